/**
 * Shadow operations: named, state-independent lists of effects (RedBlue, OSDI 2012, §5.1). They are what is replicated.
 * Each has a colour, of its own or of its service's `colours`.
 */
import { check } from '../../correctable/errors.ts';
import type { Colour, Effect, GoesByRights, ResultsOf } from '../records/effect.ts';
import type { Chosen, WithMeta } from '../records/reply.ts';

declare const noReply: unique symbol;

/** Stands for the reply type of a shadow operation that leaves the reply to the generator. */
export interface NoReply {
  readonly [noReply]: true;
}

declare const mayBeType: unique symbol;
declare const byRightsType: unique symbol;

/**
 * A shadow operation without its colour, which the service's `colours` say: `A` are its arguments, `R` the reply that it
 * makes from the results of its effects, `C` the colours that it may get, `T` whether it takes by rights.
 */
export interface UncolouredOperation<
  in A = never,
  out R = unknown,
  out C extends Colour = Colour,
  out T extends boolean = boolean,
> {
  effects(args: A): readonly Effect[];
  reply?(results: readonly never[], args: A): R | WithMeta<R>;
  /** Carries the colours that there are for it; never present at run time. */
  readonly [mayBeType]?: C;
  /** Carries whether it takes by rights, so that as a blue one it may be red; never present at run time. */
  readonly [byRightsType]?: T;
}

/** A shadow operation with its colour `C`. */
export interface ShadowOperation<
  in A = never,
  out R = unknown,
  out C extends Colour = Colour,
  out T extends boolean = boolean,
> extends UncolouredOperation<A, R, C, T> {
  readonly colour: C;
}

/** Shadow operations by name. */
export type ShadowOperations = Readonly<Record<string, UncolouredOperation>>;

/** A shadow operation whose types are not known. Its colour is in the service's `colours`. */
export interface AnyShadowOperation {
  effects(args: unknown): readonly Effect[];
  reply?(results: readonly unknown[], args: unknown): unknown;
}

/** Colours of shadow operations, by name. */
export type Colours = Readonly<Record<string, Colour>>;

declare const none: unique symbol;

/** Where each shadow operation has its own. */
export type NoColours = { readonly [none]?: never };

/** The names of the shadow operations that `shadow` made. */
export type Uncoloured<S extends ShadowOperations> = {
  [K in keyof S]: S[K] extends { readonly colour: Colour } ? never : K;
}[keyof S];

/** What `colours` may say of the shadow operations `S`. One that was put together at run time is looked at there. */
export type FittingColours<S extends ShadowOperations, C extends Colours> = string extends keyof C
  ? C
  : { readonly [K in keyof C]: K extends Uncoloured<S> ? MayBe<S[K]> : never };

type MayBe<S> = S extends UncolouredOperation<never, unknown, infer C> ? C : never;

/** The colour of the shadow operation `K`: its own, or the given one. */
type ColourIn<S extends ShadowOperations, C extends Colours, K extends keyof S> = S[K] extends {
  readonly colour: infer Own;
}
  ? Own
  : K extends keyof C
    ? C[K]
    : Colour;

/** The colours that the shadow operation `K` may end with: one that takes by rights is red where its site lacks them. */
type EndsIn<S extends ShadowOperations, C extends Colours, K extends keyof S> =
  | ColourIn<S, C, K>
  | (S[K] extends UncolouredOperation<never, unknown, Colour, true> ? 'red' : never);

/**
 * What a generator gets as `shadow`: one function a shadow operation of the colours that its operation may have. `C` are
 * the colours of those that have none of their own.
 */
export type ShadowBuilders<
  S extends ShadowOperations,
  Allowed extends Colour = Colour,
  C extends Colours = NoColours,
> = {
  readonly [K in keyof S as EndsIn<S, C, K> extends Allowed ? K : never]: S[K] extends UncolouredOperation<
    infer A,
    infer R
  >
    ? [R] extends [NoReply]
      ? <T>(args: ArgsOf<A>, reply: T | WithMeta<T>) => Chosen<T>
      : (args: ArgsOf<A>) => Chosen<R>
    : never;
};

/** One whose effects go by no arguments takes whatever the operation has. */
type ArgsOf<A> = [A] extends [never] ? unknown : A;

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
): ShadowOperation<A, NoReply, 'blue', GoesByRights<E>>;
export function blue(
  effects: (args: never) => readonly Effect[],
  reply?: unknown,
): ShadowOperation<never, unknown, 'blue'> {
  checkEffects('blue', effects);
  check(
    reply === undefined,
    'reply',
    'a blue one makes none: its generator gives it beside the arguments, or it is red',
  );
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
  checkReply(reply);
  return { colour: 'red', ...operationOf(effects, reply) };
}

/** The colours that a shadow operation of these effects may get. */
type ColoursFor<E extends readonly Effect[]> = [E[number]] extends [Effect<unknown, 'blue'>] ? Colour : 'red';

/**
 * A shadow operation whose colour the service says, in `colours`: so that it can be told apart from what it does, and
 * found by a tool. With `reply`, the answer is made from the results of its effects when they are applied; then, and with
 * an effect that only red ones may have, it can be red alone.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` for what is no function
 * @example
 * defineService(bank, {
 *   …,
 *   shadowOperations: ({ accounts }) => ({
 *     withdraw: shadow((a: { account: string; amount: number }) => [accounts.row(a.account).balance.add(-a.amount)]),
 *   }),
 *   colours: { withdraw: 'red' },
 * });
 */
export function shadow<A, const E extends readonly Effect[]>(
  effects: (args: A) => E,
): UncolouredOperation<A, NoReply, ColoursFor<E>, GoesByRights<E>>;
export function shadow<A, const E extends readonly Effect[], R>(
  effects: (args: A) => E,
  reply: (results: ResultsOf<E>, args: A) => R | WithMeta<R>,
): UncolouredOperation<A, R, 'red'>;
export function shadow(effects: (args: never) => readonly Effect[], reply?: unknown): UncolouredOperation {
  checkEffects('shadow', effects);
  checkReply(reply);
  return operationOf(effects, reply);
}

function operationOf(
  effects: (args: never) => readonly Effect[],
  reply: unknown,
): Pick<UncolouredOperation, 'effects' | 'reply'> {
  return { effects, ...(reply === undefined ? {} : { reply }) } as Pick<UncolouredOperation, 'effects' | 'reply'>;
}

function checkReply(reply: unknown): void {
  check(reply === undefined || typeof reply === 'function', 'reply', 'must be a function of the results, or none');
}

function checkEffects(name: Colour | 'shadow', effects: unknown): void {
  const example = `${name}(({ account, amount }) => [accounts.row(account).balance.add(amount)])`;
  check(typeof effects === 'function', 'effects', `must be a function that gives a list: write ${example}`);
}
