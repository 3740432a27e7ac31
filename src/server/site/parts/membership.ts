/**
 * The members of a deployment: a function of the red log's prefix (docs/spec/cluster.md). A change
 * closes the origin of a site, opens another one, or both. Each other member confirms it by an
 * `ack`, once it takes nothing more of the closed origin. With the last `ack` the closed streams
 * have their ends, and the new origin is open.
 */
import type { Settling, SitePart } from '../core/site-part.ts';
import type {
  MemberChange,
  AckRecord,
  ChangeRecord,
  MemberRecord,
  MembersCopyRecord,
  OperationId,
} from '../../service/records/records.ts';
import type { BluePath } from './blue/blue-path.ts';
import type { SiteCore } from '../core/site-core.ts';
import { LogCopies } from './log-copies.ts';
import type { SavedChange } from '../../service/records/checkpoint.ts';
import { formatOperationId } from '../core/operation-id.ts';
import {
  MAX_ORIGINS,
  type KnownOrigin,
  type Origin,
  type StreamEnd,
} from '../../service/records/origin.ts';

/** A change that not all members have confirmed. */
interface PendingChange {
  /**
   * The place of its record in the red log. If changes were merged, it is that of the latest one.
   */
  readonly place: number;
  readonly closing: readonly Origin[];
  readonly joining: readonly Origin[];
  /** Members that have not confirmed it. */
  readonly awaiting: Set<Origin>;
  /** By closing origin: the greatest length of its stream that a member holds. */
  readonly held: Map<Origin, StreamEnd>;
  /** This site confirms the change once another member has this many of its operations. */
  ownLength?: number | undefined;
}

/** What changes of the members need of the site. */
export interface MembershipPort {
  /** Called when the table of origins has changed. */
  onMembersChanged(): void;
  /** Returns up to which place of `main` a red log has the members here. */
  readonly getMembersPlace: (partition: number) => number;
}

const NOTHING_HELD: StreamEnd = { sequence: 0, stamp: 0 };

/** The members as this site knows them from the red log. */
export class Membership implements SitePart, Settling {
  /**
   * Whether a red log may lack a copy of the members, or a change waits for what this site has to
   * confirm.
   */
  isDue = true;
  /** Whether this site takes updates. It is a field, since each update reads it. */
  takesWrites = false;
  readonly #core: SiteCore;
  readonly #blue: BluePath;
  readonly #port: MembershipPort;
  /** The prefix of this start's records. No other start names records like it. */
  readonly #client: string;
  #change: PendingChange | undefined;
  /** The place of the change that this start confirms, or has confirmed. */
  #confirming = 0;
  /** Set until the own log proves that this site, which has joined, is open. */
  #isOpening = false;
  #proposed = 0;
  /** The place of the record that has changed the table of origins last. */
  #place = 0;
  readonly #copies: LogCopies;

  constructor(core: SiteCore, blue: BluePath, port: MembershipPort, startName: string) {
    this.#core = core;
    this.#blue = blue;
    this.#port = port;
    this.#client = `${startName}.member`;
    this.#copies = new LogCopies(core, port.getMembersPlace);
    this.#updateTakesWrites();
  }

  /** Proposes a change. Returns the name of its record, under which its outcome is reported. */
  propose({ name, directory, address }: MemberChange): OperationId {
    const { site, redLeader, redLogs = [] } = this.#core.options;
    const id = this.#nextId();
    const change = {
      kind: 'member',
      action: 'change',
      id,
      site,
      name,
      directory,
      ...(redLeader !== undefined && { leader: redLeader }),
      ...(redLogs.length > 0 && {
        leaders: redLogs.map(({ leader }) => leader),
      }),
    } as const;
    this.#core.outputs.propose(address === undefined ? change : { ...change, address });
    return id;
  }

  /**
   * The place in `main` of the record that has changed the members last. It is 0 before the first
   * one.
   */
  get place(): number {
    return this.#place;
  }

  settle(): boolean {
    const hasCopied = this.#copies.propose(this.#place, this.#createCopy);
    const hasConfirmed = this.#confirmDurable();
    this.isDue = this.#change?.ownLength !== undefined;
    return hasCopied || hasConfirmed;
  }

  onMembersChanged(): void {
    this.isDue = true;
    this.#updateTakesWrites();
  }

  readonly #createCopy = (partition: number): MembersCopyRecord => ({
    kind: 'member',
    action: 'copy',
    id: this.#nextId(),
    site: this.#core.options.site,
    partition,
    place: this.#place,
    origins: this.#origins.save(),
  });

  #updateTakesWrites(): void {
    const { site } = this.#core.options;
    this.takesWrites = this.#origins.get(site).state === 'open' && !this.#isOpening;
  }

  /** The members that have not confirmed the pending change. */
  get unconfirmed(): readonly Origin[] {
    return [...(this.#change?.awaiting ?? [])];
  }

  /**
   * Takes a record of the red log.
   *
   * @param place its number in the log, from 1 on
   * @param isProven whether the own log proves that the record counts
   */
  deliver(record: MemberRecord, place: number, isProven: boolean): void {
    // A copy counts in its own log alone. After a restart, this site must know that the copy
    // counts: it may have given the site its vote in that log.
    if (record.action === 'copy') {
      if (!isProven) this.#proveDelivered();
      return;
    }
    // The record comes from a site that was closed before.
    if (!this.#origins.isMember(record.site)) return;
    if (record.action === 'ack') this.#onAck(record, place, isProven);
    else this.#onChange(record, place);
  }

  /** Confirms the pending change, if this site has not. A start confirms it once more. */
  confirm(): void {
    const change = this.#change;
    const { site } = this.#core.options;
    if (change === undefined || change.place === this.#confirming || !change.awaiting.has(site))
      return;
    this.#confirming = change.place;
    // After a crash a start may not know that the change counts, and would take more of the closing
    // origins. The entry proves that it counts. Operations that were received before the change are
    // synced with it.
    this.#proveDelivered(() => {
      change.ownLength = this.#blue.getHeld(site).sequence;
      this.isDue = true;
    });
  }

  /**
   * Confirms the change once others have all that it depends on. The closed site may have been the
   * only one with operations of this site on which red records depend. Another site must have them
   * too, before the change counts. The same holds for operations of the closed site. If only this
   * site had them and was lost, no site could reach the end of that stream. Returns whether it has
   * confirmed the change.
   */
  #confirmDurable(): boolean {
    const change = this.#change;
    if (change?.ownLength === undefined) return false;
    const blue = this.#blue;
    const { site, origins } = this.#core.options;
    if (origins.members.length > 1) {
      if (blue.ownProgress.durable < change.ownLength) return false;
      if (!change.closing.every((origin) => blue.isElsewhere(origin))) return false;
    }
    // Otherwise a record of the closed site might count in another red log after the end of its
    // stream has been fixed.
    if (!this.#copies.areDelivered(change.place)) return false;
    change.ownLength = undefined;
    const held = change.closing.map((origin) => {
      const { sequence, stamp } = blue.getHeld(origin);
      return [origin, sequence, stamp] as const;
    });
    const record = {
      kind: 'member',
      action: 'ack',
      id: this.#nextId(),
      site,
      change: change.place,
      held,
    } as const;
    this.#core.outputs.propose(record);
    return true;
  }

  save(): SavedChange | undefined {
    if (this.#change === undefined) return undefined;
    const { place, closing, joining, awaiting, held } = this.#change;
    const ends = [...held].map(
      ([origin, { sequence, stamp }]) => [origin, sequence, stamp] as const,
    );
    return { place, closing, joining, awaiting: [...awaiting], held: ends };
  }

  load(saved: SavedChange | undefined, place = 0): void {
    this.#place = place;
    if (saved === undefined) return;
    const held = new Map(
      saved.held.map(([origin, sequence, stamp]) => [origin, { sequence, stamp }]),
    );
    this.#change = { ...saved, awaiting: new Set(saved.awaiting), held };
  }

  get #origins(): SiteCore['options']['origins'] {
    return this.#core.options.origins;
  }

  #onChange(record: ChangeRecord, place: number): void {
    const { id, name, directory, site } = record;
    const current = this.#origins.find(name);
    const isThere =
      current !== undefined &&
      directory !== null &&
      this.#origins.get(current).directory === directory;
    const problem = isThere ? undefined : this.#findProblem(record, current);
    const origin = problem !== undefined || isThere ? current : this.#apply(record, current, place);
    if (site === this.#core.options.site)
      this.#core.outputs.report({ kind: 'changed', id, origin, problem });
    if (problem === undefined && !isThere) this.#onChanged();
  }

  /** Returns why the change is void, if so. The result is the same at all sites. */
  #findProblem(
    { name, directory, leader, leaders = [] }: ChangeRecord,
    current: Origin | undefined,
  ): string | undefined {
    const origins = this.#origins;
    if (current === undefined && directory === null) return `no site is called '${name}' now`;
    if (current !== undefined && current === (leader ?? this.#core.options.redLeader)) {
      return `${name} is the leader of the red log: make another site the leader first`;
    }
    const led = current === undefined ? -1 : leaders.indexOf(current);
    if (led >= 0) {
      const log = origins.getName(origins.logs[led + 1] as Origin);
      return `${name} is the leader of the red log of ${log}: make another site the leader first`;
    }
    if (directory === null && origins.members.length === 1) return `${name} is the only site`;
    if (
      origins.sites.some(
        (origin) => directory !== null && origins.get(origin).directory === directory,
      )
    ) {
      return `the data directory of ${name} was closed before: begin on an empty one`;
    }
    if (origins.size >= MAX_ORIGINS)
      return `the deployment has had ${MAX_ORIGINS} origins, as many as it may`;
    if (this.#change === undefined || (current !== undefined && this.#change.awaiting.has(current)))
      return undefined;
    const missing = [...this.#change.awaiting].map((origin) => origins.getName(origin)).join(', ');
    return `another change is pending, and has to be confirmed by ${missing} first`;
  }

  /** Applies a change. Returns the new origin, or the one that was closed. */
  #apply(
    { name: site, directory, address }: ChangeRecord,
    current: Origin | undefined,
    place: number,
  ): Origin {
    const origins = this.#origins;
    if (current !== undefined) origins.set(current, { state: 'closing' });
    // All members have to confirm the change, except the new one: it begins with the change.
    const awaiting = new Set(origins.members);
    const { closing = [], joining = [], held = new Map<Origin, StreamEnd>() } = this.#change ?? {};
    const isNew = directory !== null;
    const known: KnownOrigin = {
      site,
      incarnation: place,
      state: 'joining',
      directory: directory ?? undefined,
    };
    const added = isNew ? [origins.add(address === undefined ? known : { ...known, address })] : [];
    this.#place = place;
    this.#change = {
      place,
      closing: current === undefined ? closing : [...closing, current],
      joining: [...joining, ...added],
      awaiting,
      held,
    };
    return (added[0] ?? current) as Origin;
  }

  #onAck({ site, change, held }: AckRecord, place: number, isProven: boolean): void {
    const pending = this.#change;
    if (pending === undefined || pending.place !== change || !pending.awaiting.delete(site)) return;
    for (const [origin, sequence, stamp] of held) {
      if (sequence > (pending.held.get(origin)?.sequence ?? 0))
        pending.held.set(origin, { sequence, stamp });
    }
    if (pending.awaiting.size > 0) return;
    this.#change = undefined;
    this.#place = place;
    for (const origin of pending.closing) {
      this.#origins.set(origin, {
        state: 'closed',
        final: pending.held.get(origin) ?? NOTHING_HELD,
      });
    }
    for (const origin of pending.joining) {
      if (this.#origins.isMember(origin)) this.#origins.set(origin, { state: 'open' });
      if (origin === this.#core.options.site && !isProven) this.#proveOpen();
    }
    this.#onChanged();
  }

  /**
   * Otherwise a start after a crash might not know that it was open. It would report operations as
   * not done that were done.
   */
  #proveOpen(): void {
    this.#isOpening = true;
    this.#proveDelivered(() => {
      this.#isOpening = false;
      this.#updateTakesWrites();
    });
  }

  /**
   * Stores an entry in the own log. Once it is on the disk, it proves that what was delivered
   * counts.
   */
  #proveDelivered(done: () => void = () => undefined): void {
    const { redDelivered } = this.#core;
    this.#core.store({ kind: 'delivered', redDelivered }, done);
  }

  #onChanged(): void {
    this.#port.onMembersChanged();
    this.#core.outputs.report({ kind: 'members' });
    this.confirm();
  }

  #nextId(): OperationId {
    this.#proposed += 1;
    return formatOperationId(this.#client, this.#proposed);
  }
}
