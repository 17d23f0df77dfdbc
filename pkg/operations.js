// Made by `cargo xtask generate` from crates/exitgap-server/docs/openapi.json. Do not edit.
//
// Where each operation is, and how each parameter of its query is read from what a caller gives.

export const OPERATIONS = {
  compareRoutes: ['/v1/routes/{chain}/{token}', { sizeUsd: 'decimal', quoteGroup: 'short', fixedCostUsd: 'decimal', at: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  estimateExit: ['/v1/exit/{pool}', { sizeUsd: 'decimal', base: 'short', at: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  evaluateAlert: ['/v1/alerts/backtest/{pool}', { kind: 'short', base: 'short', sizeUsd: 'decimal', pct: 'decimal', clearPct: 'decimal', usd: 'decimal', clearUsd: 'decimal', atPct: 'decimal', reason: 'short', forSlots: 'whole', clearForSlots: 'whole', noDataSlots: 'whole', refireSlots: 'whole', remindSlots: 'whole', onMissing: 'short', alert: 'short', from: 'instant', to: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  listAccuracy: ['/v1/accuracy', { chain: 'short', limit: 'whole', cursor: 'short' }],
  listCapabilities: ['/v1/capabilities', {}],
  listClosedDays: ['/v1/export', { from: 'short', to: 'short' }],
  listEquities: ['/v1/equities', {}],
  listPools: ['/v1/pools', { chain: 'short', limit: 'whole', cursor: 'short' }],
  listShocks: ['/v1/shocks', {}],
  maxExitSize: ['/v1/size/{pool}', { gapPct: 'decimal', base: 'short', at: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readAccuracy: ['/v1/accuracy/{pool}', { from: 'instant', to: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readDepthDecay: ['/v1/decay/{pool}', { base: 'short', from: 'instant', to: 'instant', movePct: 'decimal', withinSlots: 'whole', gapPct: 'decimal', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readEquity: ['/v1/equities/{chain}/{token}', { sizeUsd: 'decimal', gapPct: 'decimal', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readFills: ['/v1/fills/{pool}', { slot: 'whole' }],
  readFragility: ['/v1/fragility', { chain: 'short', sort: 'short', sizeUsd: 'decimal', limit: 'whole', cursor: 'short' }],
  readHistory: ['/v1/history/{pool}', { sizeUsd: 'decimal', base: 'short', from: 'instant', to: 'instant', interval: 'short', order: 'short', limit: 'whole', cursor: 'short', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readIssued: ['/v1/issued/{pool}', { slot: 'whole' }],
  readLadder: ['/v1/ladder/{pool}', { base: 'short', at: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readMarketHours: ['/v1/hours/{pool}', { sizeUsd: 'decimal', base: 'short', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readPayments: ['/v1/payments', {}],
  readRedemption: ['/v1/redemption/{pool}', { sizeUsd: 'decimal', base: 'short', at: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readSlotStatus: ['/api/v1/status/{pool}', { slot: 'whole' }],
  readStress: ['/v1/stress/{pool}', { sizeUsd: 'decimal', base: 'short', from: 'instant', to: 'instant', limitPct: 'decimal', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readVenueStress: ['/v1/stress', { sizeUsd: 'decimal', haircutPct: 'decimal', fallPct: 'decimal', limitPct: 'decimal', afterMovePct: 'decimal', withinSlots: 'whole', from: 'instant', to: 'instant', reference: 'short', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  readWhenToSell: ['/v1/when/{pool}', { sizeUsd: 'decimal', base: 'short', from: 'instant', to: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  scoreLiquidationExposure: ['/v1/exposure', { cascadeUsd: 'decimal', bonusPct: 'decimal', protocolFeePct: 'decimal', fallPct: 'decimal', from: 'instant', to: 'instant', reference: 'short', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  scorePortfolio: ['/v1/portfolio', { maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
  simulateOrders: ['/v1/simulate/{pool}', { sizeUsd: 'decimal', orders: 'whole', recoveryPct: 'decimal', intervalS: 'whole', base: 'short', at: 'instant', maxAgeS: 'whole', minDaysObserved: 'decimal', require: 'short' }],
};
