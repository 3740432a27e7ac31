/**
 * What a kind of field is to a replica: a state that effects change, and pending effects laid over a state, by which a
 * site shows what its own red operations in flight would do (Correctables, OSDI 2016, §5.2: simulate on local state).
 */
import type { Effect, Stamp } from '../effect.ts';

/** The committed state of one field at one site. */
export interface FieldState {
  /** The value as generators see it. Cheap; may be a live view, valid until the next `apply`. */
  read(): unknown;
  /** Applies one effect and returns its result. */
  apply(effect: Effect, stamp: Stamp): unknown;
  /** The state as plain data, equal at two sites exactly when they have converged. */
  snapshot(): unknown;
}

/** Effects in flight on one field, in order, each owned by an operation. */
export interface PendingEffects {
  readonly size: number;
  /** Adds an effect at the end and returns its result, given the committed value `base`. */
  append(owner: number, effect: Effect, base: unknown): unknown;
  /** Takes out the effects of `owner`: cheap when it is the oldest. */
  remove(owner: number): void;
  /** The value with all of these applied to `base`. */
  over(base: unknown): unknown;
}

/** A kind of field. */
export interface FieldKind {
  readonly name: string;
  /** Whether only red shadow operations may change it: its effects may then read it when applied. */
  readonly redOnly: boolean;
  /** The builders of effects that a shadow operation finds under the field's name, by action. */
  effects(address: FieldAddress): Readonly<Record<string, (value?: unknown) => Effect>>;
  state(): FieldState;
  pending(): PendingEffects;
}

/** Which field of which row. */
export interface FieldAddress {
  readonly table: string;
  readonly key: string;
  readonly field: string;
}

interface Entry {
  readonly owner: number;
  readonly effect: Effect;
}

/** Pending effects kept as a plain list: a base for the kinds that need no more. */
export abstract class PendingList implements PendingEffects {
  protected entries: Entry[] = [];

  get size(): number {
    return this.entries.length;
  }

  append(owner: number, effect: Effect, base: unknown): unknown {
    const result = this.resultOf(effect, base);
    this.entries.push({ owner, effect });
    return result;
  }

  remove(owner: number): void {
    if (this.entries[0]?.owner === owner) {
      while (this.entries[0]?.owner === owner) this.entries.shift();
    } else {
      this.entries = this.entries.filter((entry) => entry.owner !== owner);
    }
  }

  abstract over(base: unknown): unknown;

  /** What applying `effect` after the pending ones would return. */
  protected resultOf(_effect: Effect, _base: unknown): unknown {
    return undefined;
  }
}
