/** The sites of the ledger. */
export const SITES = ['ireland', 'frankfurt', 'virginia'] as const;
