/**
 * Shadow operations: named, state-independent lists of effects (RedBlue, OSDI 2012, §5.1). They are
 * what is replicated. Each has a color, of its own or of its service's `colors`.
 */
import { check } from '../../correctable/errors.ts';
import type { Color, Effect, GoesByRights, ResultsOf } from './records/effect.ts';
import type { ChosenShadow, WithMeta } from './records/reply.ts';

declare const noReply: unique symbol;

/** The reply type of a shadow operation without `reply`: the generator gives the reply. */
export interface NoReply {
  readonly [noReply]: true;
}

declare const possibleColorsType: unique symbol;
declare const usesRightsType: unique symbol;

/**
 * A shadow operation whose color is in the service's `colors`. `A`: its arguments. `R`: the reply
 * that it makes from the results of its effects. `C`: the colors that it may get. `T`: whether it
 * takes by rights.
 */
export interface UncoloredOperation<
  in A = never,
  out R = unknown,
  out C extends Color = Color,
  out T extends boolean = boolean,
> {
  effects(args: A): readonly Effect[];
  reply?(results: readonly never[], args: A): R | WithMeta<R>;
  /** Carries the possible colors. Never present at run time. */
  readonly [possibleColorsType]?: C;
  /**
   * Carries, for the type checker only, whether the operation uses rights. If so, it is red where
   * its site lacks them, although it is declared blue. Never present at run time.
   */
  readonly [usesRightsType]?: T;
}

/** A shadow operation with its color `C`. */
export interface ShadowOperation<
  in A = never,
  out R = unknown,
  out C extends Color = Color,
  out T extends boolean = boolean,
> extends UncoloredOperation<A, R, C, T> {
  readonly color: C;
}

/** Shadow operations by name. */
export type ShadowOperations = Readonly<Record<string, UncoloredOperation>>;

/** A shadow operation without its types. Its color is in the service's `colors`. */
export interface AnyShadowOperation {
  effects(args: unknown): readonly Effect[];
  reply?(results: readonly unknown[], args: unknown): unknown;
}

/** Colors of shadow operations, by name. */
export type Colors = Readonly<Record<string, Color>>;

declare const none: unique symbol;

/** Type of `colors` if each shadow operation has its own color. */
export type NoColors = { readonly [none]?: never };

/** Names of the shadow operations that `shadow` created. */
export type Uncolored<S extends ShadowOperations> = {
  [K in keyof S]: S[K] extends { readonly color: Color } ? never : K;
}[keyof S];

/**
 * Allowed `colors` for the shadow operations `S`. If `S` is built at run time, the check is at run
 * time too.
 */
export type FittingColors<S extends ShadowOperations, C extends Colors> = string extends keyof C
  ? C
  : {
      readonly [K in keyof C]: K extends Uncolored<S> ? PossibleColors<S[K]> : never;
    };

type PossibleColors<S> = S extends UncoloredOperation<never, unknown, infer C> ? C : never;

/** The color of the shadow operation `K`: its own, or the one in `colors`. */
type ColorIn<S extends ShadowOperations, C extends Colors, K extends keyof S> = S[K] extends {
  readonly color: infer Own;
}
  ? Own
  : K extends keyof C
    ? C[K]
    : Color;

/**
 * The colors with which the shadow operation `K` may end. One that takes by rights is red if its
 * site lacks them.
 */
type FinalColors<S extends ShadowOperations, C extends Colors, K extends keyof S> =
  | ColorIn<S, C, K>
  | (S[K] extends UncoloredOperation<never, unknown, Color, true> ? 'red' : never);

/**
 * Type of a generator's `shadow`: one function for each shadow operation of the allowed colors. `C`
 * are those of `colors`.
 */
export type ShadowBuilders<
  S extends ShadowOperations,
  Allowed extends Color = Color,
  C extends Colors = NoColors,
> = {
  readonly [
    K in keyof S as FinalColors<S, C, K> extends Allowed ? K : never
  ]: S[K] extends UncoloredOperation<infer A, infer R>
    ? [R] extends [NoReply]
      ? <T>(args: ArgsOf<A>, reply: T | WithMeta<T>) => ChosenShadow<T>
      : (args: ArgsOf<A>) => ChosenShadow<R>
    : never;
};

/** A shadow operation whose effects use no arguments accepts the arguments of any operation. */
type ArgsOf<A> = [A] extends [never] ? unknown : A;

/**
 * Creates a blue shadow operation, which commits at its own site at once. It must commute with
 * every other and keep every invariant in every valid state (RedBlue, OSDI 2012, §5.3).
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an argument is no function.
 * @example
 * deposit: blue((args: { account: string; amount: number }) => [
 *   accounts.row(args.account).balance.add(args.amount),
 * ])
 */
export function blue<A, const E extends readonly Effect<unknown, 'blue'>[]>(
  effects: (args: A) => E,
): ShadowOperation<A, NoReply, 'blue', GoesByRights<E>>;
export function blue(
  effects: (args: never) => readonly Effect[],
  reply?: unknown,
): ShadowOperation<never, unknown, 'blue'> {
  checkEffects('blue', effects);
  const advice = 'its generator gives it beside the arguments, or it is red';
  check(reply === undefined, 'reply', `a blue one makes none: ${advice}`);
  return { color: 'blue', effects };
}

/**
 * Creates a red shadow operation. All sites apply red ones in one order. It commits only if the
 * data that its generator read is unchanged at that point. With `reply`, the answer is made from
 * the results of its effects once applied.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an argument is no function.
 * @example
 * take: red(
 *   (args: { queue: string }) => [queues.row(args.queue).items.pop()],
 *   ([popped]) =>
 *     withMeta(popped.found ? { item: popped.item } : null, {
 *       remaining: popped.remaining,
 *     }),
 * )
 */
export function red<A, const E extends readonly Effect[]>(
  effects: (args: A) => E,
): ShadowOperation<A, NoReply, 'red'>;
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
  return { color: 'red', ...createOperation(effects, reply) };
}

/** The colors that a shadow operation with these effects may get. */
type ColorsFor<E extends readonly Effect[]> = [E[number]] extends [Effect<unknown, 'blue'>]
  ? Color
  : 'red';

/**
 * Creates a shadow operation whose color is in the service's `colors`. So the code is separate from
 * the color, and a tool can find the color. With `reply`, the answer is made from the results of
 * its effects when they are applied. With `reply`, or with an effect for red ones only, it can only
 * be red.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if an argument is no function.
 * @example
 * defineService(bank, {
 *   …,
 *   shadowOperations: ({ accounts }) => ({
 *     withdraw: shadow((a: { account: string; amount: number }) => [
 *       accounts.row(a.account).balance.add(-a.amount),
 *     ]),
 *   }),
 *   colors: { withdraw: 'red' },
 * });
 */
export function shadow<A, const E extends readonly Effect[]>(
  effects: (args: A) => E,
): UncoloredOperation<A, NoReply, ColorsFor<E>, GoesByRights<E>>;
export function shadow<A, const E extends readonly Effect[], R>(
  effects: (args: A) => E,
  reply: (results: ResultsOf<E>, args: A) => R | WithMeta<R>,
): UncoloredOperation<A, R, 'red'>;
export function shadow(
  effects: (args: never) => readonly Effect[],
  reply?: unknown,
): UncoloredOperation {
  checkEffects('shadow', effects);
  checkReply(reply);
  return createOperation(effects, reply);
}

/** What `blue`, `red` and `shadow` have in common. */
interface OperationBody {
  effects(args: never): readonly Effect[];
  reply?(results: readonly never[], args: never): unknown;
}

function createOperation(
  effects: (args: never) => readonly Effect[],
  reply: unknown,
): OperationBody {
  return {
    effects,
    ...(reply === undefined ? {} : { reply }),
  } as OperationBody;
}

function checkReply(reply: unknown): void {
  check(
    reply === undefined || typeof reply === 'function',
    'reply',
    'must be a function of the results, or none',
  );
}

function checkEffects(name: Color | 'shadow', effects: unknown): void {
  const example = `${name}(({ account, amount }) => [accounts.row(account).balance.add(amount)])`;
  check(
    typeof effects === 'function',
    'effects',
    `must be a function that gives a list: write ${example}`,
  );
}
