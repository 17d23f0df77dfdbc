//! The chains whose figures may be called live.

use exitgap_core::ids::{Address, BlockHash};

use super::FactoryKind;

/// A chain known by its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownChain {
    /// EIP-155 chain id.
    pub chain_id: u64,
    /// Its usual name.
    pub name: &'static str,
    /// Hash of block 0.
    pub genesis: BlockHash,
    /// Where a contract hears the block's number.
    pub number_source: NumberSource,
    /// The feed that says whether its sequencer is up, as Chainlink publishes it.
    pub sequencer_feed: Option<Address>,
    /// Blocks after which a block is taken for final, unless configured otherwise.
    pub confirmations: u32,
    /// Factories whose pools are read because they say that the pools are theirs.
    pub factories: &'static [KnownFactory],
}

/// A factory that its makers publish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownFactory {
    /// Its address.
    pub address: Address,
    /// What its pools are.
    pub kind: FactoryKind,
    /// The contracts, published with it, that its pools may take their fee from.
    pub fee_modules: &'static [Address],
}

/// `PancakeSwap` v3's, which has one address on these chains.
const PANCAKE_V3: KnownFactory = KnownFactory {
    address: address(*b"0bfbcf9fa4f9c56b0f40a671ad40e0805a091865"),
    kind: FactoryKind::PancakeV3,
    fee_modules: &[],
};

/// Aerodrome's of Slipstream pools on Base, with its modules for custom and for dynamic fees.
const AERODROME_SLIPSTREAM: KnownFactory = KnownFactory {
    address: address(*b"5e7bb104d84c7cb9b682aac2f3d509f5f406809a"),
    kind: FactoryKind::Slipstream,
    fee_modules: &[
        address(*b"f4171b0953b52fa55462e4d76eca1845db69af00"),
        address(*b"db45818a6db280ecfeb33cbebd445423d0216b5d"),
    ],
};

/// Aerodrome's of pools of its second version, on Base.
const AERODROME_V2: KnownFactory = aerodrome_v2(*b"420dd381b31aef6683db6b902084cb0ffece40da");

/// Velodrome's, from whose contracts Aerodrome's descend, on OP Mainnet.
const VELODROME_V2: KnownFactory = aerodrome_v2(*b"f1046053aa5682b4f9a81b5481394da16be5ff5a");

const fn aerodrome_v2(digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind: FactoryKind::AerodromeV2, fee_modules: &[] }
}

const fn uniswap_v4(digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind: FactoryKind::UniswapV4, fee_modules: &[] }
}

/// Curve's factory of `StableSwap`-NG pools.
const fn curve_stable_ng(digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind: FactoryKind::CurveStableNg, fee_modules: &[] }
}

/// Curve's 3pool on Ethereum, which no factory made.
const CURVE_3POOL: KnownFactory = KnownFactory {
    address: address(*b"bebc44782c7db0a1a60cb6fe97d0b483032ff1c7"),
    kind: FactoryKind::Curve3pool,
    fee_modules: &[],
};

const fn sushi_v3(digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind: FactoryKind::SushiV3, fee_modules: &[] }
}

/// Where a contract hears the number of the block it runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberSource {
    /// `block.number`, through Multicall3's `getBlockNumber`.
    BlockNumber,
    /// `ArbSys.arbBlockNumber`: on Arbitrum `block.number` is an estimate of Ethereum's.
    ArbSys,
}

/// The known chains. The hashes are those of the chains' own node software: go-ethereum,
/// op-geth's superchain configuration (OP Mainnet's is hard-coded there too, its state was
/// migrated), and Arbitrum's published block 0.
const KNOWN: [KnownChain; 4] = [
    KnownChain {
        chain_id: 1,
        name: "Ethereum",
        genesis: hash(*b"d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"),
        number_source: NumberSource::BlockNumber,
        sequencer_feed: None,
        confirmations: 96,
        factories: &[
            PANCAKE_V3,
            uniswap_v4(*b"000000000004444c5dc75cb358380d2e3de08a90"),
            sushi_v3(*b"baceb8ec6b9355dfc0269c18bac9d6e2bdc29c4f"),
            curve_stable_ng(*b"6a8cbed756804b16e05e741edabd5cb544ae21bf"),
            CURVE_3POOL,
        ],
    },
    KnownChain {
        chain_id: 10,
        name: "OP Mainnet",
        genesis: hash(*b"7ca38a1916c42007829c55e69d3e9a73265554b586a499015373241b8a3fa48b"),
        number_source: NumberSource::BlockNumber,
        sequencer_feed: Some(address(*b"371ead81c9102c9bf4874a9075ffff170f2ee389")),
        confirmations: 1_800,
        factories: &[
            VELODROME_V2,
            uniswap_v4(*b"9a13f98cb987694c9f086b1f5eb990eea8264ec3"),
            sushi_v3(*b"9c6522117e2ed1fe5bdb72bb0ed5e3f2bde7dbe0"),
            curve_stable_ng(*b"5eee3091f747e60a045a2e715a4c71e600e31f6e"),
        ],
    },
    KnownChain {
        chain_id: 8_453,
        name: "Base",
        genesis: hash(*b"f712aa9241cc24369b143cf6dce85f0902a9731e70d66818a3a5845b296c73dd"),
        number_source: NumberSource::BlockNumber,
        sequencer_feed: Some(address(*b"bcf85224fc0756b9fa45aa7892530b47e10b6433")),
        confirmations: 1_800,
        factories: &[
            PANCAKE_V3,
            AERODROME_SLIPSTREAM,
            AERODROME_V2,
            uniswap_v4(*b"498581ff718922c3f8e6a244956af099b2652b2b"),
            sushi_v3(*b"c35dadb65012ec5796536bd9864ed8773abc74c4"),
            curve_stable_ng(*b"d2002373543ce3527023c75e7518c274a51ce712"),
        ],
    },
    KnownChain {
        chain_id: 42_161,
        name: "Arbitrum One",
        genesis: hash(*b"7ee576b35482195fc49205cec9af72ce14f003b9ae69f6ba0faef4514be8b442"),
        number_source: NumberSource::ArbSys,
        sequencer_feed: Some(address(*b"fdb631f5ee196f0ed6faa767959853a9f217697d")),
        confirmations: 14_400,
        factories: &[
            PANCAKE_V3,
            uniswap_v4(*b"360e68faccca8ca495c1b759fd9eee466db9fb32"),
            sushi_v3(*b"1af415a1eba07a4986a52b6f2e7de7003d82231e"),
            curve_stable_ng(*b"9af14d26075f142eb3f292d5065eb3faa646167b"),
        ],
    },
];

impl KnownChain {
    /// The known chain with this id.
    pub fn of_id(chain_id: u64) -> Option<&'static Self> {
        KNOWN.iter().find(|chain| chain.chain_id == chain_id)
    }
}

const fn hash(digits: [u8; 64]) -> BlockHash {
    BlockHash(bytes(&digits))
}

const fn address(digits: [u8; 40]) -> Address {
    Address(bytes(&digits))
}

const fn bytes<const BYTES: usize>(digits: &[u8]) -> [u8; BYTES] {
    const fn nibble(digit: u8) -> u8 {
        if digit <= b'9' { digit - b'0' } else { digit - b'a' + 10 }
    }
    let mut bytes = [0; BYTES];
    let mut index = 0;
    while index < BYTES {
        bytes[index] = nibble(digits[2 * index]) << 4 | nibble(digits[2 * index + 1]);
        index += 1;
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_read_as_they_are_written() {
        assert_eq!(
            KnownChain::of_id(1).unwrap().genesis.to_string(),
            "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"
        );
        assert!(KnownChain::of_id(31_337).is_none());
    }

    /// A wrong digit in one of them would break its EIP-55 checksum.
    #[test]
    fn sequencer_feeds_are_those_that_are_published() {
        for (chain_id, published) in [
            (10, "0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389"),
            (8_453, "0xBCF85224fc0756B9Fa45aA7892530B47e10b6433"),
            (42_161, "0xFdB631F5EE196F0ed6FAa767959853A9F217697D"),
        ] {
            let feed = KnownChain::of_id(chain_id).unwrap().sequencer_feed.unwrap();
            let published = alloy::primitives::Address::parse_checksummed(published, None).unwrap();
            assert_eq!(feed.0, published.into_array());
        }
        assert_eq!(KnownChain::of_id(1).unwrap().sequencer_feed, None);
    }

    /// The same for the factories and their modules for fees.
    #[test]
    fn factories_are_those_that_are_published() {
        let parsed = |published: &str| {
            let address = alloy::primitives::Address::parse_checksummed(published, None).unwrap();
            Address(address.into_array())
        };
        let pancake = parsed("0x0BFbCF9fa4f9C56B0F40a671Ad40E0805A091865");
        for chain_id in [1, 8_453, 42_161] {
            let first = KnownChain::of_id(chain_id).unwrap().factories[0];
            assert_eq!((first.address, first.kind), (pancake, FactoryKind::PancakeV3));
        }
        let of_kind = |chain_id: u64, kind: FactoryKind| {
            let mut known = KnownChain::of_id(chain_id).unwrap().factories.iter();
            *known.find(|factory| factory.kind == kind).unwrap()
        };
        for (chain_id, manager, sushi) in [
            (
                1,
                "0x000000000004444c5dc75cB358380D2e3dE08A90",
                "0xbACEB8eC6b9355Dfc0269C18bac9d6E2Bdc29C4F",
            ),
            (
                10,
                "0x9a13F98Cb987694C9F086b1F5eB990EeA8264Ec3",
                "0x9c6522117e2ed1fE5bdb72bb0eD5E3f2bdE7DBe0",
            ),
            (
                8_453,
                "0x498581fF718922c3f8e6A244956aF099B2652b2b",
                "0xc35DADB65012eC5796536bD9864eD8773aBc74C4",
            ),
            (
                42_161,
                "0x360E68faCcca8cA495c1B759Fd9EEe466db9FB32",
                "0x1af415a1EbA07a4986a52B6f2e7dE7003D82231e",
            ),
        ] {
            assert_eq!(of_kind(chain_id, FactoryKind::UniswapV4).address, parsed(manager));
            assert_eq!(of_kind(chain_id, FactoryKind::SushiV3).address, parsed(sushi));
        }
        for (chain_id, published) in [
            (8_453, "0x420DD381b31aEf6683db6B902084cB0FFECe40Da"),
            (10, "0xF1046053aa5682b4F9a81b5481394DA16BE5FF5a"),
        ] {
            assert_eq!(of_kind(chain_id, FactoryKind::AerodromeV2).address, parsed(published));
        }
        let slipstream = of_kind(8_453, FactoryKind::Slipstream);
        assert_eq!(slipstream.address, parsed("0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A"));
        let modules = [
            "0xF4171B0953b52Fa55462E4d76ecA1845Db69af00",
            "0xDB45818A6db280ecfeB33cbeBd445423d0216b5D",
        ];
        assert_eq!(slipstream.fee_modules, modules.map(parsed));
    }
}
