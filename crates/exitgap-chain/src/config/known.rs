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

const fn uniswap_v2(digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind: FactoryKind::UniswapV2, fee_modules: &[] }
}

const fn uniswap_v3(digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind: FactoryKind::UniswapV3, fee_modules: &[] }
}

/// Uniswap v3's, which has one address on these chains; on Base it has another.
const UNISWAP_V3: KnownFactory = uniswap_v3(*b"1f98431c8ad98523631ae4a59f267346ea31f984");

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

/// Balancer's factories of weighted pools in its second vault; the pools say their version.
const fn balancer_weighted(digits: [u8; 40]) -> KnownFactory {
    let kind = FactoryKind::BalancerV2Weighted;
    KnownFactory { address: address(digits), kind, fee_modules: &[] }
}

/// Balancer's factories of composable stable pools in its second vault.
const fn balancer_stable(digits: [u8; 40]) -> KnownFactory {
    let kind = FactoryKind::BalancerV2ComposableStable;
    KnownFactory { address: address(digits), kind, fee_modules: &[] }
}

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
            UNISWAP_V3,
            uniswap_v2(*b"5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"),
            balancer_weighted(*b"5dd94da3644ddd055fcf6b3e1aa310bb7801eb8b"),
            balancer_weighted(*b"897888115ada5773e02aa29f775430bfb5f34c51"),
            balancer_stable(*b"dba127fbc23fb20f5929c546af220a991b5c6e01"),
            balancer_stable(*b"5b42ec6d40f7b7965be5308c70e2603c0281c1e9"),
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
            UNISWAP_V3,
            uniswap_v2(*b"0c3c1c532f1e39edf36be9fe0be1410313e074bf"),
            balancer_weighted(*b"a0dabebaad1b243bbb243f933013d560819eb66f"),
            balancer_weighted(*b"230a59f4d9adc147480f03b0d3fffecd56c3289a"),
            balancer_stable(*b"e2e901ab09f37884ba31622df3ca7fc19aa443be"),
            balancer_stable(*b"4bdcc2fb18aeb9e2d281b0278d946445070eada7"),
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
            uniswap_v3(*b"33128a8fc17869897dce68ed026d694621f6fdfd"),
            uniswap_v2(*b"8909dc15e40173ff4699343b6eb8132c65e18ec6"),
            balancer_weighted(*b"4c32a8a8fda4e24139b51b456b42290f51d6a1c4"),
            balancer_stable(*b"956ccab09898c0af2aca5e6c229c3ad4e93d9288"),
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
            UNISWAP_V3,
            uniswap_v2(*b"f1d7cc64fb4452f05c498126312ebe29f30fbcf9"),
            balancer_weighted(*b"f1665e19bc105be4edd3739f88315cc699cc5b65"),
            balancer_weighted(*b"c7e5ed1054a24ef31d827e6f86caa58b3bc168d7"),
            balancer_stable(*b"1c99324edc771c82a0dccb780cc7dda0045e50e7"),
            balancer_stable(*b"4bdcc2fb18aeb9e2d281b0278d946445070eada7"),
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
        for (chain_id, published) in [
            (1, "0x6A8cbed756804B16E05E741eDaBd5cB544AE21bf"),
            (10, "0x5eeE3091f747E60a045a2E715a4c71e600e31F6E"),
            (8_453, "0xd2002373543Ce3527023C75e7518C274A51ce712"),
            (42_161, "0x9AF14D26075f142eb3F292D5065EB3faa646167b"),
        ] {
            assert_eq!(of_kind(chain_id, FactoryKind::CurveStableNg).address, parsed(published));
        }
        let (v3, on_base) = (
            "0x1F98431c8aD98523631AE4a59f267346ea31F984",
            "0x33128a8fC17869897dcE68Ed026d694621f6FDfD",
        );
        for (chain_id, second, third) in [
            (1, "0x5C69bEe701ef814a2B6a3EDD4B1652CB9cc5aA6f", v3),
            (10, "0x0c3c1c532F1e39EdF36BE9Fe0bE1410313E074Bf", v3),
            (8_453, "0x8909Dc15e40173Ff4699343b6eB8132c65e18eC6", on_base),
            (42_161, "0xf1D7CC64Fb4452F05c498126312eBE29f30Fbcf9", v3),
        ] {
            assert_eq!(of_kind(chain_id, FactoryKind::UniswapV2).address, parsed(second));
            assert_eq!(of_kind(chain_id, FactoryKind::UniswapV3).address, parsed(third));
        }
        let slipstream = of_kind(8_453, FactoryKind::Slipstream);
        assert_eq!(slipstream.address, parsed("0x5e7BB104d84c7CB9B682AaC2F3d509f5F406809A"));
        let modules = [
            "0xF4171B0953b52Fa55462E4d76ecA1845Db69af00",
            "0xDB45818A6db280ecfeB33cbeBd445423d0216b5D",
        ];
        assert_eq!(slipstream.fee_modules, modules.map(parsed));
    }

    /// The same for Balancer's, of the versions whose arithmetic is known.
    #[test]
    fn balancers_factories_are_those_that_are_published() {
        for (chain_id, weighted, stable) in [
            (
                1,
                vec![
                    "0x5Dd94Da3644DDD055fcf6B3E1aa310Bb7801EB8b",
                    "0x897888115Ada5773E02aA29F775430BFB5F34c51",
                ],
                vec![
                    "0xdba127fBc23fb20F5929C546af220A991b5C6e01",
                    "0x5B42eC6D40f7B7965BE5308c70e2603c0281C1E9",
                ],
            ),
            (
                10,
                vec![
                    "0xA0DAbEBAAd1b243BBb243f933013d560819eB66f",
                    "0x230a59F4d9ADc147480f03B0D3fFfeCd56c3289a",
                ],
                vec![
                    "0xe2E901AB09f37884BA31622dF3Ca7FC19AA443Be",
                    "0x4bdCc2fb18AEb9e2d281b0278D946445070EAda7",
                ],
            ),
            (
                8_453,
                vec!["0x4C32a8a8fDa4E24139B51b456B42290f51d6A1c4"],
                vec!["0x956CCab09898C0AF2aCa5e6C229c3aD4E93d9288"],
            ),
            (
                42_161,
                vec![
                    "0xf1665E19bc105BE4EDD3739F88315cC699cc5b65",
                    "0xc7E5ED1054A24Ef31D827E6F86caA58B3Bc168d7",
                ],
                vec![
                    "0x1c99324EDC771c82A0DCCB780CC7DDA0045E50e7",
                    "0x4bdCc2fb18AEb9e2d281b0278D946445070EAda7",
                ],
            ),
        ] {
            let known = KnownChain::of_id(chain_id).unwrap().factories;
            for (kind, published) in [
                (FactoryKind::BalancerV2Weighted, weighted),
                (FactoryKind::BalancerV2ComposableStable, stable),
            ] {
                let of_kind = known.iter().filter(|factory| factory.kind == kind);
                let found: Vec<Address> = of_kind.map(|factory| factory.address).collect();
                let parsed = published.into_iter().map(|published| {
                    let parsed = alloy::primitives::Address::parse_checksummed(published, None);
                    Address(parsed.unwrap().into_array())
                });
                assert_eq!(found, parsed.collect::<Vec<_>>(), "{chain_id} {kind:?}");
            }
        }
    }
}
