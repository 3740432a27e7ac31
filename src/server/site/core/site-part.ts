/**
 * One part of a site: rights, membership, low watermarks and so on. A new part is one file, and one
 * row in the list of `Replica`. The order of that list has a meaning: `settle` runs in it.
 */
import type { Section } from '../../service/records/checkpoint.ts';
import type { Origin } from '../../service/records/origin.ts';
import type {
  BlueMessage,
  BlueOperation,
  OperationId,
  RightsMessage,
  SlotMessage,
} from '../../service/records/records.ts';
import type { Submission } from './submissions.ts';

/** A message of another site that a part takes. */
export type PartMessage = BlueMessage | SlotMessage | RightsMessage;

/** What a part does at the events of a site. It has the members that it needs. */
export interface SitePart {
  /** Whether something is in flight that a lost message could hold up. Then ticks are needed. */
  readonly isBusy?: boolean;
  /** When `settle` has something to do though nothing happens. */
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
  /** Goes on with what the last input has made possible. Runs after each input. */
  settle?(): void;
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
  readonly #following: readonly With<'onMembersChanged'>[];
  readonly #settling: readonly With<'settle'>[];
  readonly #ticking: readonly With<'tick'>[];
  readonly #cancelling: readonly With<'cancel'>[];
  readonly #waited: readonly With<'hasWaiter'>[];

  /** @param all in the order in which they settle */
  constructor(all: readonly SitePart[]) {
    this.#busy = listWith(all, 'isBusy');
    this.#waking = listWith(all, 'wakeAtMs');
    this.#saved = listWith(all, 'sections');
    this.#applying = listWith(all, 'onBlueApplied');
    this.#following = listWith(all, 'onMembersChanged');
    this.#settling = listWith(all, 'settle');
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
    for (const { wakeAtMs } of this.#waking)
      if (wakeAtMs !== undefined && wakeAtMs < (first ?? Infinity)) first = wakeAtMs;
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
    for (const part of this.#following) part.onMembersChanged();
  }

  settle(): void {
    for (const part of this.#settling) part.settle();
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
