//! The known factories on each known chain, and known pools and implementations by their own addresses, as published by
//! their developers.

use super::{FactoryKind, KnownFactory, address};

const fn known_factory(kind: FactoryKind, digits: [u8; 40]) -> KnownFactory {
    KnownFactory { address: address(digits), kind, fee_modules: &[] }
}

/// `PancakeSwap` v3's factory, at the same address on these chains.
const PANCAKE_V3: KnownFactory =
    known_factory(FactoryKind::PancakeV3, *b"0bfbcf9fa4f9c56b0f40a671ad40e0805a091865");

/// Aerodrome's factory of Slipstream pools on Base, with its modules for custom and for dynamic fees.
const AERODROME_SLIPSTREAM: KnownFactory = KnownFactory {
    address: address(*b"5e7bb104d84c7cb9b682aac2f3d509f5f406809a"),
    kind: FactoryKind::Slipstream,
    fee_modules: &[
        address(*b"f4171b0953b52fa55462e4d76eca1845db69af00"),
        address(*b"db45818a6db280ecfeb33cbebd445423d0216b5d"),
    ],
};

/// Aerodrome's factory of v2 pools on Base.
const AERODROME_V2: KnownFactory =
    known_factory(FactoryKind::AerodromeV2, *b"420dd381b31aef6683db6b902084cb0ffece40da");

/// The v2 factory of Velodrome, from whose contracts Aerodrome's descend, on OP Mainnet.
const VELODROME_V2: KnownFactory =
    known_factory(FactoryKind::AerodromeV2, *b"f1046053aa5682b4f9a81b5481394da16be5ff5a");

/// Uniswap v3's factory, at the same address on these chains. On Base it has another address.
const UNISWAP_V3: KnownFactory =
    known_factory(FactoryKind::UniswapV3, *b"1f98431c8ad98523631ae4a59f267346ea31f984");

/// Curve's factory of Twocrypto-NG, at the same address on these chains. On Base it has another address.
const TWOCRYPTO: KnownFactory =
    known_factory(FactoryKind::CurveTwocryptoNg, *b"98ee851a00abee0d95d08cf4ca2bdce32aeaaf7f");

pub(super) const ETHEREUM: &[KnownFactory] = &[
    PANCAKE_V3,
    known_factory(FactoryKind::UniswapV4, *b"000000000004444c5dc75cb358380d2e3de08a90"),
    known_factory(FactoryKind::SushiV3, *b"baceb8ec6b9355dfc0269c18bac9d6e2bdc29c4f"),
    known_factory(FactoryKind::CurveStableNg, *b"6a8cbed756804b16e05e741edabd5cb544ae21bf"),
    known_factory(FactoryKind::Curve3pool, *b"bebc44782c7db0a1a60cb6fe97d0b483032ff1c7"),
    UNISWAP_V3,
    known_factory(FactoryKind::UniswapV2, *b"5c69bee701ef814a2b6a3edd4b1652cb9cc5aa6f"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"5dd94da3644ddd055fcf6b3e1aa310bb7801eb8b"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"897888115ada5773e02aa29f775430bfb5f34c51"),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"dba127fbc23fb20f5929c546af220a991b5c6e01",
    ),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"5b42ec6d40f7b7965be5308c70e2603c0281c1e9",
    ),
    known_factory(FactoryKind::BalancerV3Weighted, *b"201efd508c8dfe9de1a13c2452863a78cb2a86cc"),
    known_factory(FactoryKind::BalancerV3Weighted, *b"332694ef46d880df6ea9593e04cb8abee5f81d99"),
    known_factory(FactoryKind::BalancerV3Stable, *b"b9d01ca61b9c181da1051bfdd28e1097e920ab14"),
    known_factory(FactoryKind::BalancerV3Stable, *b"e42c2e153bb0a8899b59c73f5ff941f9742f1197"),
    known_factory(FactoryKind::BalancerV3Stable, *b"4efcd8bce8ac9b94bd76648e2c85bef6c40f3228"),
    known_factory(FactoryKind::CurveHbtc, *b"4ca9b3063ec5866a4b82e437059d2c43d1be596f"),
    known_factory(FactoryKind::CurveSusd, *b"a5407eae9ba41422680e2e00537571bcc53efbfd"),
    known_factory(FactoryKind::CurveEurs, *b"0ce6a5ff5217e38315f87032cf90686c96627caa"),
    known_factory(FactoryKind::CurvePlain, *b"b9fc157394af804a3578134a6585c0dc9cc990d4"),
    known_factory(FactoryKind::CurvePlain2Basic, *b"6523ac15ec152cb70a334230f6c5d62c5bd963f1"),
    known_factory(FactoryKind::CurvePlain3Basic, *b"9b52f13df69d79ec5aab6d1ace3157d29b409cc3"),
    known_factory(FactoryKind::CurvePlain4Basic, *b"5bd47ea4494e0f8de6e3ca10f1c05f55b72466b8"),
    TWOCRYPTO,
    known_factory(FactoryKind::CurveTricryptoNg, *b"0c0e5f2ff0ff18a3be9b835635039256dc4b4963"),
];

pub(super) const OP_MAINNET: &[KnownFactory] = &[
    VELODROME_V2,
    known_factory(FactoryKind::UniswapV4, *b"9a13f98cb987694c9f086b1f5eb990eea8264ec3"),
    known_factory(FactoryKind::SushiV3, *b"9c6522117e2ed1fe5bdb72bb0ed5e3f2bde7dbe0"),
    known_factory(FactoryKind::CurveStableNg, *b"5eee3091f747e60a045a2e715a4c71e600e31f6e"),
    UNISWAP_V3,
    known_factory(FactoryKind::UniswapV2, *b"0c3c1c532f1e39edf36be9fe0be1410313e074bf"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"a0dabebaad1b243bbb243f933013d560819eb66f"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"230a59f4d9adc147480f03b0d3fffecd56c3289a"),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"e2e901ab09f37884ba31622df3ca7fc19aa443be",
    ),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"4bdcc2fb18aeb9e2d281b0278d946445070eada7",
    ),
    known_factory(FactoryKind::BalancerV3Weighted, *b"0f08eef2c785aa5e7539684af04755dec1347b7c"),
    known_factory(FactoryKind::BalancerV3Weighted, *b"254f3a2974b97dc2e675f6115c845567c55f83b0"),
    known_factory(FactoryKind::BalancerV3Stable, *b"268e2ee1413d768b6e2dc3f5a4ddc9ae03d9af42"),
    known_factory(FactoryKind::BalancerV3Stable, *b"1780e8185199dac45284039bb3e3b64060d943ab"),
    known_factory(FactoryKind::CurvePlain, *b"2db0e83599a91b508ac268a6197b8b14f5e72840"),
    known_factory(FactoryKind::CurvePlain2Basic, *b"c2b1df84112619d190193e48148000e3990bf627"),
    known_factory(FactoryKind::CurvePlain3Basic, *b"78d0fc2b9d5ae65512db242e424a9c683f18c243"),
    known_factory(FactoryKind::CurvePlain4Basic, *b"445fe580ef8d70ff569ab36e80c647af338db351"),
    TWOCRYPTO,
    known_factory(FactoryKind::CurveTricryptoNg, *b"c6c09471ee39c7e30a067952fcc89c8922f9ab53"),
];

pub(super) const BASE: &[KnownFactory] = &[
    PANCAKE_V3,
    AERODROME_SLIPSTREAM,
    AERODROME_V2,
    known_factory(FactoryKind::UniswapV4, *b"498581ff718922c3f8e6a244956af099b2652b2b"),
    known_factory(FactoryKind::SushiV3, *b"c35dadb65012ec5796536bd9864ed8773abc74c4"),
    known_factory(FactoryKind::CurveStableNg, *b"d2002373543ce3527023c75e7518c274a51ce712"),
    known_factory(FactoryKind::UniswapV3, *b"33128a8fc17869897dce68ed026d694621f6fdfd"),
    known_factory(FactoryKind::UniswapV2, *b"8909dc15e40173ff4699343b6eb8132c65e18ec6"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"4c32a8a8fda4e24139b51b456b42290f51d6a1c4"),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"956ccab09898c0af2aca5e6c229c3ad4e93d9288",
    ),
    known_factory(FactoryKind::BalancerV3Weighted, *b"5cf4928a3205728bd12830e1840f7db85c62a4b9"),
    known_factory(FactoryKind::BalancerV3Weighted, *b"bdbadc891bb95dee80ebc491699228ef0f7d6ff1"),
    known_factory(FactoryKind::BalancerV3Stable, *b"b9f8ab3ed3f3acba64bc6cd2dca74b7f38fd7b88"),
    known_factory(FactoryKind::BalancerV3Stable, *b"c49ca921c4cd1117162eaeec0ee969649997950c"),
    known_factory(FactoryKind::BalancerV3Stable, *b"fc2986feab34713e659da84f3b1fa32c1da95832"),
    known_factory(FactoryKind::CurveTwocryptoNg, *b"c9fe0c63af9a39402e8a5514f9c43af0322b665f"),
    known_factory(FactoryKind::CurveTricryptoNg, *b"a5961898870943c68037f6848d2d866ed2016bcb"),
];

pub(super) const ARBITRUM: &[KnownFactory] = &[
    PANCAKE_V3,
    known_factory(FactoryKind::UniswapV4, *b"360e68faccca8ca495c1b759fd9eee466db9fb32"),
    known_factory(FactoryKind::SushiV3, *b"1af415a1eba07a4986a52b6f2e7de7003d82231e"),
    known_factory(FactoryKind::CurveStableNg, *b"9af14d26075f142eb3f292d5065eb3faa646167b"),
    UNISWAP_V3,
    known_factory(FactoryKind::UniswapV2, *b"f1d7cc64fb4452f05c498126312ebe29f30fbcf9"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"f1665e19bc105be4edd3739f88315cc699cc5b65"),
    known_factory(FactoryKind::BalancerV2Weighted, *b"c7e5ed1054a24ef31d827e6f86caa58b3bc168d7"),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"1c99324edc771c82a0dccb780cc7dda0045e50e7",
    ),
    known_factory(
        FactoryKind::BalancerV2ComposableStable,
        *b"4bdcc2fb18aeb9e2d281b0278d946445070eada7",
    ),
    known_factory(FactoryKind::BalancerV3Weighted, *b"d961e30156c2e0d0d925a0de45f931cb7815e970"),
    known_factory(FactoryKind::BalancerV3Weighted, *b"83bf399fa3dc49af8fb5c34031a50c7c93f56129"),
    known_factory(FactoryKind::BalancerV3Stable, *b"eb1eeabf0126d813589c3d2cfeffe410d9ae3863"),
    known_factory(FactoryKind::BalancerV3Stable, *b"44d33798dddcdabc93fe6a40c80588033dc502d3"),
    known_factory(FactoryKind::BalancerV3Stable, *b"1fc7f1f84cfe61a04224ac8d3f87f56214fec08c"),
    known_factory(FactoryKind::CurvePlain, *b"b17b674d9c5cb2e441f8e196a2f048a81355d031"),
    known_factory(FactoryKind::CurvePlain2Basic, *b"54e8a25d0ac0e4945b697c80b8372445fea17a62"),
    known_factory(FactoryKind::CurvePlain3Basic, *b"e381c25de995d62b453af8b931aac84fccaa7a62"),
    known_factory(FactoryKind::CurvePlain4Basic, *b"8d53e5de033078367ad91527c53abfd1eb6bfa86"),
    TWOCRYPTO,
    known_factory(FactoryKind::CurveTricryptoNg, *b"bc0797015fcfc47d9c1856639cae50d0e69fbee8"),
];
