/**
 * Policies stand between a client and its binding if the client asks for them (COR-15).
 * `correctables/policies` has them.
 */
import type { Operation } from './operation.ts';
import type { Source } from './source.ts';

/**
 * Submits an operation whose views and failure go to `source`. Throws the error that refuses it.
 */
export type SubmitFunction = <T>(operation: Operation<T>, source: Source<T>) => void;

/** Wraps the function that submits the operations of one client. */
export type Policy = (submit: SubmitFunction) => SubmitFunction;
