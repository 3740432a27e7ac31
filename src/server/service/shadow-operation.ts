/**
 * Shadow operations: named, state-independent lists of effects with a colour (RedBlue, OSDI 2012, §5.1). They are what
 * is replicated.
 */
import { check } from '../../correctable/errors.ts';
import type { Colour, Effect, ResultsOf } from '../records/effect.ts';
import type { Chosen, WithMeta } from '../records/reply.ts';

declare const noReply: unique symbol;

/** Stands for the reply type of a shadow operation that leaves the reply to the generator. */
export interface NoReply {
  readonly [noReply]: true;
}

/**
 * A shadow operation: `A` are its arguments, `R` the reply that it makes from the results of its effects, `C` what it may
 * be the choice of.
 */
export interface ShadowOperation<in A = never, out R = unknown, out C extends Colour = Colour> {
  readonly colour: C;
  effects(args: A): readonly Effect[];
  reply?(results: readonly never[], args: A): R | WithMeta<R>;
}

/** Shadow operations by name. */
export type ShadowOperations = Readonly<Record<string, ShadowOperation>>;

/** A shadow operation whose types are not known. */
export interface AnyShadowOperation {
  readonly colour: Colour;
  effects(args: unknown): readonly Effect[];
  reply?(results: readonly unknown[], args: unknown): unknown;
}

/** What a generator gets as `shadow`: one function a shadow operation of the colours that its operation may have. */
export type ShadowBuilders<S extends ShadowOperations, C extends Colour = Colour> = {
  readonly [K in keyof S as S[K]['colour'] extends C ? K : never]: S[K] extends ShadowOperation<infer A, infer R>
    ? [R] extends [NoReply]
      ? <T>(args: A, reply: T | WithMeta<T>) => Chosen<T>
      : (args: A) => Chosen<R>
    : never;
};

/**
 * A blue shadow operation: it commits at its own site at once. It must commute with every other and keep every
 * invariant in every valid state (RedBlue, OSDI 2012, §5.3).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no function
 * @example
 * deposit: blue((args: { account: string; amount: number }) => [accounts.row(args.account).balance.add(args.amount)])
 */
export function blue<A, const E extends readonly Effect<unknown, 'blue'>[]>(
  effects: (args: A) => E,
): ShadowOperation<A, NoReply, 'blue'> {
  checkEffects('blue', effects);
  return { colour: 'blue', effects };
}

/**
 * A red shadow operation: all sites apply the red ones in one order, and it commits only if what its generator read is
 * still so there. With `reply`, the answer is made from the results of its effects when they are applied.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no function
 * @example
 * take: red(
 *   (args: { queue: string }) => [queues.row(args.queue).items.pop()],
 *   ([popped]) => withMeta(popped.found ? { item: popped.item } : null, { remaining: popped.remaining }),
 * )
 */
export function red<A, const E extends readonly Effect[]>(effects: (args: A) => E): ShadowOperation<A, NoReply, 'red'>;
export function red<A, const E extends readonly Effect[], R>(
  effects: (args: A) => E,
  reply: (results: ResultsOf<E>, args: A) => R | WithMeta<R>,
): ShadowOperation<A, R, 'red'>;
export function red(
  effects: (args: never) => readonly Effect[],
  reply?: unknown,
): ShadowOperation<never, unknown, 'red'> {
  checkEffects('red', effects);
  check(reply === undefined || typeof reply === 'function', 'reply', 'must be a function of the results, or none');
  return { colour: 'red', effects, ...(reply === undefined ? {} : { reply }) } as ShadowOperation<
    never,
    unknown,
    'red'
  >;
}

function checkEffects(name: Colour, effects: unknown): void {
  const example = `${name}(({ account, amount }) => [accounts.row(account).balance.add(amount)])`;
  check(typeof effects === 'function', 'effects', `must be a function that gives a list: write ${example}`);
}
