/** Errors of the domain: what a service refuses an operation with, as its contract declares it. */
import { isCorrectableError, type CorrectableError } from '../../correctable/errors.ts';
import { isCalled, type ErrorDataOf, type OperationSpec } from './contract.ts';

/** The error that a client gets where the service refused the operation with one that its contract declares. */
export type DomainError<S extends OperationSpec, N extends keyof ErrorDataOf<S> = keyof ErrorDataOf<S>> = {
  [K in N]: CorrectableError & {
    readonly code: 'DOMAIN';
    readonly domain: { readonly name: K; readonly data: ErrorDataOf<S>[K] };
  };
}[N];

/**
 * Whether `error` is one that the contract declares for the operation, of `name` if one is given, and not that of another
 * operation: two may declare one name for different data. A service of another
 * version may declare others: the operation's part of the contract differs then, and its calls fail with `UNSUPPORTED`
 * before they are sent.
 *
 * @example
 * try {
 *   await store.invoke(bank.withdraw({ account, amount }));
 * } catch (error) {
 *   if (isDomainError(error, bank.operations.withdraw, 'notEnough')) show(`only ${error.domain.data.balance} left`);
 *   else throw error;
 * }
 */
export function isDomainError<
  S extends OperationSpec,
  const N extends keyof ErrorDataOf<S> & string = keyof ErrorDataOf<S> & string,
>(error: unknown, operation: S, name?: N): error is DomainError<S, N> {
  if (!isCorrectableError(error, 'DOMAIN')) return false;
  const { domain } = error;
  if (domain === undefined || (name !== undefined && domain.name !== name)) return false;
  if (domain.operation !== undefined && !isCalled(operation, domain.operation)) return false;
  return operation.errors !== undefined && Object.hasOwn(operation.errors, domain.name);
}
