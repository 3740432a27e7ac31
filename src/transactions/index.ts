/** `correctables/transactions`: transactions with a view before they commit. Browser-safe. */
export { transaction } from './transaction.ts';
export type { TransactionOptions } from './transaction.ts';
export type { Transaction, TransactionFunction } from './transaction-run.ts';
