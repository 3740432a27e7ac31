/**
 * One part of a site: rights, membership, low watermarks and so on. A new part is one file, and one
 * row in the list of `Site`.
 *
 * A part goes on with its work in `settle`, and only if it is due. It becomes due where it gets
 * work: something was queued, the members have changed, a red log has delivered a record. So an
 * input asks no part that has nothing to do with it. A part that forgets to become due would wait
 * for ever. The simulator therefore asks all parts each time, and fails if one had work and was not
 * due.
 */
import type { Section } from '../../service/records/checkpoint.ts';
import type { Origin } from '../../service/records/origin.ts';
import type {
  BlueMessage,
  BlueOperation,
  OperationId,
  RightsMessage,
  RowsMessage,
  SlotMessage,
} from '../../service/records/records.ts';
import type { Submission } from './submissions.ts';

/** A message of another site that a part takes. */
export type PartMessage = BlueMessage | SlotMessage | RightsMessage | RowsMessage;

/** What goes on after an input, in a fixed place among the others. */
export interface Settling {
  /**
   * Whether `settle` may have something to do. It is set where the work comes from, and stays set
   * until `settle` finds that nothing is left.
   */
  readonly isDue: boolean;
  /**
   * Goes on with what the last input has made possible. Runs only if it is due. Returns whether it
   * has done anything.
   *
   * @param hasMoved whether the stable snapshot has moved, of what applies operations
   */
  settle(hasMoved: boolean): boolean;
}

/** What goes on after an input, in the order in which it does. */
export interface SettlingOrder {
  /** Applies what has become visible. It is repeated until nothing moves any more. */
  readonly moving: readonly Settling[];
  /** Goes on with what that makes possible. */
  readonly following: readonly Settling[];
}

/** What a part does at the events of a site. It has the members that it needs. */
export interface SitePart {
  /** Whether the part is due, if it is `Settling`. */
  readonly isDue?: boolean;
  /** Whether something is in flight that a lost message could hold up. Then ticks are needed. */
  readonly isBusy?: boolean;
  /**
   * When the part has something to do though nothing happens. Only parts that are due are asked for
   * it.
   */
  readonly wakeAtMs?: number | undefined;
  /** The state that is saved row by row. */
  readonly sections?: Readonly<Record<string, Section>>;
  /** The kinds of messages that `receive` takes. No two parts take the same one. */
  readonly kinds?: readonly PartMessage['kind'][];
  receive?(from: Origin, message: PartMessage): void;
  /** A blue operation became part of the stable snapshot. */
  onBlueApplied?(operation: BlueOperation): void;
  /** The table of origins has changed. */
  onMembersChanged?(): void;
  /** Sends again what may have been lost, and ends what has waited for too long. */
  tick?(nowMs: number): void;
  /**
   * No caller waits any more for the submission with this serial. Forgets it, and returns it if it
   * waited here and can be dropped without a trace.
   */
  cancel?(serial: number): Submission | undefined;
  /** Whether a submission of the operation waits here. */
  hasWaiter?(id: OperationId): boolean;
}

/** A part with a member. */
type With<M extends keyof SitePart> = SitePart & Required<Pick<SitePart, M>>;

/**
 * The parts of a site, by the members that they have. A hook runs at each operation, so that the
 * parts without it are not even looked at.
 */
export class SiteParts {
  readonly #busy: readonly With<'isBusy'>[];
  readonly #waking: readonly With<'wakeAtMs'>[];
  readonly #saved: readonly With<'sections'>[];
  readonly #receivers = new Map<string, With<'receive'>>();
  readonly #applying: readonly With<'onBlueApplied'>[];
  readonly #members: readonly With<'onMembersChanged'>[];
  readonly #moving: readonly Settling[];
  readonly #following: readonly Settling[];
  readonly #ticking: readonly With<'tick'>[];
  readonly #cancelling: readonly With<'cancel'>[];
  readonly #waited: readonly With<'hasWaiter'>[];

  constructor(all: readonly SitePart[], { moving, following }: SettlingOrder) {
    this.#busy = listWith(all, 'isBusy');
    this.#waking = listWith(all, 'wakeAtMs');
    this.#saved = listWith(all, 'sections');
    this.#applying = listWith(all, 'onBlueApplied');
    this.#members = listWith(all, 'onMembersChanged');
    this.#moving = moving;
    this.#following = following;
    this.#ticking = listWith(all, 'tick');
    this.#cancelling = listWith(all, 'cancel');
    this.#waited = listWith(all, 'hasWaiter');
    for (const part of listWith(all, 'receive'))
      for (const kind of part.kinds ?? []) this.#receivers.set(kind, part);
  }

  get isBusy(): boolean {
    for (const { isBusy } of this.#busy) if (isBusy) return true;
    return false;
  }

  /** When a tick is due though nothing happens. It is `undefined` if there is no such time. */
  get wakeAtMs(): number | undefined {
    let first: number | undefined;
    for (const part of this.#waking) {
      if (part.isDue !== true) continue;
      const { wakeAtMs } = part;
      if (wakeAtMs !== undefined && wakeAtMs < (first ?? Infinity)) first = wakeAtMs;
    }
    return first;
  }

  get sections(): Readonly<Record<string, Section>> {
    return Object.assign({}, ...this.#saved.map(({ sections }) => sections)) as Record<
      string,
      Section
    >;
  }

  receive(from: Origin, message: PartMessage): void {
    this.#receivers.get(message.kind)?.receive(from, message);
  }

  onBlueApplied(operation: BlueOperation): void {
    for (const part of this.#applying) part.onBlueApplied(operation);
  }

  onMembersChanged(): void {
    for (const part of this.#members) part.onMembersChanged();
  }

  settle(): void {
    for (let hasMoved = true; hasMoved;) {
      hasMoved = false;
      for (const part of this.#moving) if (part.isDue && part.settle(hasMoved)) hasMoved = true;
    }
    for (const part of this.#following) if (part.isDue) part.settle(false);
  }

  tick(nowMs: number): void {
    for (const part of this.#ticking) part.tick(nowMs);
  }

  cancel(serial: number): Submission | undefined {
    for (const part of this.#cancelling) {
      const submission = part.cancel(serial);
      if (submission !== undefined) return submission;
    }
    return undefined;
  }

  hasWaiter(id: OperationId): boolean {
    for (const part of this.#waited) if (part.hasWaiter(id)) return true;
    return false;
  }
}

function listWith<M extends keyof SitePart>(all: readonly SitePart[], member: M): With<M>[] {
  return all.filter((part): part is With<M> => member in part);
}
