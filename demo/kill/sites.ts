/** The sites of the ledger. */
export const SITES = ['irl', 'frk', 'vrg'] as const;
