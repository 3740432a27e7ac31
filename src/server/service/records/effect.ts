/**
 * Effects: the changes of a shadow operation to single fields, as plain data that is replicated
 * (RedBlue, OSDI 2012, §5.1).
 */
import type { Origin } from './origin.ts';
import type { Vector } from './vector.ts';

declare const resultType: unique symbol;
declare const colorType: unique symbol;
declare const rightsType: unique symbol;

/** Names a row. */
export interface RowName {
  readonly table: string;
  readonly key: string;
}

/** Names a field of a row. */
export interface RowField extends RowName {
  readonly field: string;
}

/** The color of a shadow operation: blue commits at its site, red is ordered over all sites. */
export type Color = 'blue' | 'red';

/**
 * One change of one field, independent of the state. `R`: the result of applying it, such as the
 * item of a `pop`. `C`: `red` if only red shadow operations may have it. `Rights`: `true` if it
 * uses rights, `false` if not, `boolean` if not known.
 */
export interface Effect<
  out R = unknown,
  out C extends Color = Color,
  out Rights extends boolean = boolean,
> {
  readonly table: string;
  readonly key: string;
  readonly field: string;
  readonly action: string;
  readonly value?: unknown;
  /** Carries the result type; never present at run time. */
  readonly [resultType]?: R;
  /** Carries the color; never present at run time. */
  readonly [colorType]?: C;
  /** Carries whether the effect uses rights. Never present at run time. */
  readonly [rightsType]?: Rights;
}

/** An effect that uses rights. A blue operation that has it is red if its site lacks them. */
export type EffectByRights = Effect<undefined, 'blue', true>;

/** Whether one of the effects uses rights, as far as their types show. */
export type GoesByRights<E extends readonly Effect[]> =
  true extends IsByRights<E[number]> ? true : false;
type IsByRights<E> =
  E extends Effect<unknown, Color, infer Rights>
    ? boolean extends Rights
      ? false
      : Rights
    : never;

/** Results of a list of effects, in order. */
export type ResultsOf<E extends readonly Effect[]> = {
  readonly [I in keyof E]: E[I] extends Effect<infer R> ? R : never;
};

/** The position of an effect in the total order of last-writer-wins and of logs. */
export interface OrderPosition {
  /** Hybrid clock time. The last writer wins by it, then by `site`. */
  readonly time: number;
  /** The site where the operation was generated. */
  readonly site: Origin;
  /** The origin that covers the operation: its site, or a red log. */
  readonly entry: Origin;
  /** The stamp of the operation in that entry. */
  readonly version: number;
}

/** The position of an effect in all orders. Add-wins decides by what its generator had seen. */
export interface Stamp extends OrderPosition {
  readonly seen: Vector;
}

/** A position as it is saved. */
export type SavedPosition = readonly [time: number, site: Origin, entry: Origin, version: number];

export function savePosition({ time, site, entry, version }: OrderPosition): SavedPosition {
  return [time, site, entry, version];
}

export function loadPosition([time, site, entry, version]: SavedPosition): OrderPosition {
  return { time, site, entry, version };
}

/** A blue operation has its stamp from its own site, a red one from a log. */
export const isRedPosition = ({ entry, site }: OrderPosition): boolean => entry !== site;

/**
 * Compares positions by time, then by site. The rest decides only if a site whose clock was set
 * back has given one time twice: then red comes after blue. The result is positive if `a` comes
 * after `b`.
 */
export function compareStamps(a: OrderPosition, b: OrderPosition): number {
  // For one site, the entry is its own or that of a red log.
  return (
    a.time - b.time ||
    a.site - b.site ||
    Number(isRedPosition(a)) - Number(isRedPosition(b)) ||
    a.entry - b.entry ||
    a.version - b.version
  );
}

// Effects on whole rows. A row exists from the first write to it. A removal takes what was written
// up to its time stamp (RedBlue, OSDI 2012, Figure 7). What was written with a later stamp stays,
// in any order of arrival.

/** The field name of an effect on the whole row. */
export const WHOLE_ROW = '';

export const createInsertEffect = (
  table: string,
  key: string,
): Effect<undefined, 'blue', false> => ({
  table,
  key,
  field: WHOLE_ROW,
  action: 'insert',
});

export const createRemoveEffect = (table: string, key: string): Effect<undefined> => ({
  table,
  key,
  field: WHOLE_ROW,
  action: 'remove',
});

export const isWholeRow = (effect: Effect): boolean => effect.field === WHOLE_ROW;

export const isRemoval = (effect: Effect): boolean =>
  effect.field === WHOLE_ROW && effect.action === 'remove';
