/** What stands between a client and its binding where the client asks for it (C15): `correctables/policies` has them. */
import type { Operation } from './operation.ts';
import type { Source } from './source.ts';

/** Submits an operation whose views and failure come to `source`; throws what refuses it. */
export type SubmitFunction = <T>(operation: Operation<T>, source: Source<T>) => void;

/** A way to submit the operations of one client, made from the way that it has. */
export type Policy = (submit: SubmitFunction) => SubmitFunction;
