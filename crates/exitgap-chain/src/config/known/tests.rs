use exitgap_core::ids::Caip2;

use super::*;

#[test]
fn hashes_read_as_they_are_written() {
    assert_eq!(
        KnownChain::of_id(1).unwrap().genesis.to_string(),
        "0xd4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"
    );
    assert!(KnownChain::of_id(31_337).is_none());
}

/// A snapshot of a known chain is read back only where the format knows the chain, too.
#[test]
fn known_chains_are_those_of_the_format() {
    for chain in KNOWN {
        let genesis = exitgap_core::snapshot::known_genesis(Caip2(chain.chain_id));
        assert_eq!(genesis, Some(chain.genesis), "{}", chain.name);
    }
}

/// A wrong digit in an address would break its EIP-55 checksum.
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

/// The same for the factories and their fee modules.
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

/// The same for Balancer's factories of the versions whose arithmetic is known.
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

/// The same for the factories of Balancer's third vault.
#[test]
fn balancers_factories_of_the_third_vault_are_those_that_are_published() {
    for (chain_id, weighted, stable) in [
        (
            1,
            vec![
                "0x201efd508c8DfE9DE1a13c2452863A78CB2a86Cc",
                "0x332694Ef46D880DF6Ea9593e04CB8ABEE5F81D99",
            ],
            vec![
                "0xB9d01CA61b9C181dA1051bFDd28e1097e920AB14",
                "0xe42C2E153BB0A8899b59C73F5Ff941f9742F1197",
                "0x4eFcd8bcE8AC9b94bd76648e2c85bEf6c40F3228",
            ],
        ),
        (
            10,
            vec![
                "0x0f08eEf2C785AA5e7539684aF04755dEC1347b7c",
                "0x254F3A2974b97dc2E675f6115c845567C55f83b0",
            ],
            vec![
                "0x268E2EE1413D768b6e2dc3F5a4ddc9Ae03d9AF42",
                "0x1780e8185199DAc45284039Bb3E3B64060D943AB",
            ],
        ),
        (
            8_453,
            vec![
                "0x5cF4928a3205728bd12830E1840F7DB85c62a4B9",
                "0xBDbADc891BB95DEE80eBC491699228EF0f7D6fF1",
            ],
            vec![
                "0xb9F8AB3ED3F3aCBa64Bc6cd2DcA74B7F38fD7B88",
                "0xC49Ca921c4CD1117162eAEEc0ee969649997950c",
                "0xFc2986feAB34713E659da84F3B1FA32c1da95832",
            ],
        ),
        (
            42_161,
            vec![
                "0xD961E30156C2E0D0d925A0De45f931CB7815e970",
                "0x83bf399FA3DC49Af8fb5c34031a50c7C93F56129",
            ],
            vec![
                "0xEB1eeaBF0126d813589C3D2CfeFFE410D9aE3863",
                "0x44d33798dddCdAbc93Fe6a40C80588033Dc502d3",
                "0x1FC7F1F84CFE61a04224AC8D3F87f56214FeC08c",
            ],
        ),
    ] {
        for (kind, published) in
            [(FactoryKind::BalancerV3Weighted, weighted), (FactoryKind::BalancerV3Stable, stable)]
        {
            let known = KnownChain::of_id(chain_id).unwrap().factories.iter();
            let found: Vec<Address> = known
                .filter(|factory| factory.kind == kind)
                .map(|factory| factory.address)
                .collect();
            let parsed = published.into_iter().map(|published: &str| {
                let parsed = alloy::primitives::Address::parse_checksummed(published, None);
                Address(parsed.unwrap().into_array())
            });
            assert_eq!(found, parsed.collect::<Vec<_>>(), "{chain_id} {kind:?}");
        }
    }
}

/// The same for Curve: factories, implementations, and pools that are known by their own address.
#[test]
fn what_is_known_of_curves_is_what_is_published() {
    use FactoryKind::{
        CurveEurs, CurveHbtc, CurvePlain, CurvePlain2Basic, CurvePlain3Basic, CurvePlain4Basic,
        CurveSusd, CurveTricryptoNg, CurveTwocryptoNg,
    };
    for (chain_id, kind, published) in [
        (1, CurveHbtc, "0x4CA9b3063Ec5866A4B82E437059D2C43d1be596F"),
        (1, CurveSusd, "0xA5407eAE9Ba41422680e2e00537571bcC53efBfD"),
        (1, CurveEurs, "0x0Ce6a5fF5217e38315f87032CF90686C96627CAA"),
        (1, CurvePlain, "0xB9fC157394Af804a3578134A6585C0dc9cc990d4"),
        (1, CurvePlain2Basic, "0x6523Ac15EC152Cb70a334230F6c5d62C5Bd963f1"),
        (1, CurvePlain3Basic, "0x9B52F13DF69D79Ec5aAB6D1aCe3157d29B409cC3"),
        (1, CurvePlain4Basic, "0x5Bd47eA4494e0F8DE6e3Ca10F1c05F55b72466B8"),
        (10, CurvePlain, "0x2db0E83599a91b508Ac268a6197b8B14F5e72840"),
        (10, CurvePlain2Basic, "0xC2b1DF84112619D190193E48148000e3990Bf627"),
        (10, CurvePlain3Basic, "0x78D0fC2B9D5AE65512DB242e424a9c683F18c243"),
        (10, CurvePlain4Basic, "0x445FE580eF8d70FF569aB36e80c647af338db351"),
        (42_161, CurvePlain, "0xb17b674D9c5CB2e441F8e196a2f048A81355d031"),
        (42_161, CurvePlain2Basic, "0x54e8A25d0Ac0E4945b697C80b8372445FEA17A62"),
        (42_161, CurvePlain3Basic, "0xe381C25de995d62b453aF8B931aAc84fcCaa7A62"),
        (42_161, CurvePlain4Basic, "0x8d53E5De033078367Ad91527c53abfd1Eb6bfa86"),
        (1, CurveTwocryptoNg, "0x98EE851a00abeE0d95D08cF4CA2BdCE32aeaAF7F"),
        (10, CurveTwocryptoNg, "0x98EE851a00abeE0d95D08cF4CA2BdCE32aeaAF7F"),
        (8_453, CurveTwocryptoNg, "0xc9Fe0C63Af9A39402e8a5514f9c43Af0322b665F"),
        (42_161, CurveTwocryptoNg, "0x98EE851a00abeE0d95D08cF4CA2BdCE32aeaAF7F"),
        (1, CurveTricryptoNg, "0x0c0e5f2fF0ff18a3be9b835635039256dC4B4963"),
        (10, CurveTricryptoNg, "0xc6C09471Ee39C7E30a067952FcC89c8922f9Ab53"),
        (8_453, CurveTricryptoNg, "0xA5961898870943c68037F6848d2D866Ed2016bcB"),
        (42_161, CurveTricryptoNg, "0xbC0797015fcFc47d9C1856639CaE50D0e69FbEE8"),
    ] {
        let known = KnownChain::of_id(chain_id).unwrap().factories.iter();
        let found: Vec<_> = known.filter(|known| known.kind == kind).collect();
        let parsed = alloy::primitives::Address::parse_checksummed(published, None);
        let parsed = parsed.unwrap_or_else(|error| panic!("{published}: {error}"));
        assert_eq!(found.len(), 1, "{chain_id} {kind:?}");
        assert_eq!(found[0].address, Address(parsed.into_array()));
    }
}
