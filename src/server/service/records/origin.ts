/**
 * Origins: the sources of the stamps in a vector. Each origin has an ordinal, which is assigned
 * once and never changes its meaning: in vectors, in logs, in messages between sites and in saved
 * data. The red log of `main` has ordinal 0, so it is the first of all ordinals. Sites follow from
 * 1 on, then the red logs of other partitions. A site that joins changes no other ordinal.
 *
 * A site is one origin as long as it has its past. A site that starts without
 * it would number its operations from the beginning again, and contradict
 * itself for ever. So it becomes another *incarnation*, which is another
 * origin.
 */

declare const brand: unique symbol;

/** The ordinal of an origin. It is not an index of a list of sites. */
export type Origin = number & { readonly [brand]: 'origin' };

/**
 * The red log of `main`. In the ledger of a bounded field it stands for the pool, whichever log
 * orders the row.
 */
export const RED: Origin = 0 as Origin;

const FIRST_SITE = 1;

/** The maximum of ordinals. No deployment needs more. */
export const MAX_ORIGINS = 1 << 16;

/**
 * The state of an origin. `joining`: it receives and reads, and creates no operations before all
 * others know it. `closing`: the others take no more from it, and report how much of its stream
 * they hold. `closed`: its stream has an end.
 */
export type OriginState = (typeof ORIGIN_STATES)[number];
export const ORIGIN_STATES = ['joining', 'open', 'closing', 'closed'] as const;

/** The last operation of a stream that counts; both numbers are 0 if there is none. */
export interface StreamEnd {
  readonly sequence: number;
  readonly stamp: number;
}

export interface SiteAddress {
  readonly url: string;
  readonly cluster: string;
}

/** The known properties of a site's origin, or of a partition's red log. */
export interface KnownOrigin {
  /** The name of the site, or of the partition. */
  readonly site: string;
  /** Set if it is the red log of a partition, and no site. */
  readonly kind?: 'log' | undefined;
  /**
   * It is 0 for the first sites. For a site that joined later it is the place of its record in the
   * red log, from 1 on.
   */
  readonly incarnation: number;
  readonly state: OriginState;
  /** The end of the stream, if the origin is closed. */
  readonly final?: StreamEnd | undefined;
  /** The identity of its data directory, if the origin has joined later. */
  readonly directory?: string | undefined;
  readonly address?: SiteAddress | undefined;
}

interface OriginDetails {
  readonly kind?: 'log' | undefined;
  readonly final?: StreamEnd | undefined;
  readonly directory?: string | undefined;
  readonly address?: SiteAddress | undefined;
}

/** A change of an origin's state. */
interface StateChange {
  readonly state: OriginState;
  readonly final?: StreamEnd | undefined;
}

export type SavedOrigin = readonly [
  site: string,
  incarnation: number,
  state: OriginState,
  details?: OriginDetails,
];

const isMember = ({ state }: KnownOrigin): boolean => state === 'open' || state === 'joining';

/** Whether the deployment was created with it. */
const isFounder = ({ incarnation }: KnownOrigin): boolean => incarnation === 0;

/** The form that a founder has at the beginning. */
const toOpen = ({ site, kind }: KnownOrigin): KnownOrigin => ({
  site,
  incarnation: 0,
  state: 'open',
  ...(kind !== undefined && { kind }),
});

/**
 * All origins of a deployment, by their ordinals: a table that only grows at its end. All parts of
 * a site share one, which the records of the red log change as they are delivered
 * (`site/parts/membership.ts`). If sites share a table, their members cannot be changed.
 */
export class Origins {
  readonly #known: KnownOrigin[] = [];
  #logs: readonly Origin[] = [RED];
  #sites: readonly Origin[] = [];
  #founderCount = 0;
  #members: readonly Origin[] = [];
  #closed: readonly Origin[] = [];
  /** By ordinal. It is `undefined` as long as no origin is closed. */
  #finals: readonly (number | undefined)[] | undefined;

  /**
   * Creates the origins of a deployment: its sites, in the order in which it names them, and the
   * red logs of its partitions.
   *
   * @param partitions the names of the partitions beside `main`. Default: none
   */
  static create(sites: readonly string[], partitions: readonly string[] = []): Origins {
    const origins = new Origins();
    for (const site of sites) origins.#known.push({ site, incarnation: 0, state: 'open' });
    for (const site of partitions)
      origins.#known.push({
        site,
        incarnation: 0,
        state: 'open',
        kind: 'log',
      });
    origins.#update();
    return origins;
  }

  /** Returns a table of its own, with the origins of the beginning. */
  copyFounders(): Origins {
    const copy = new Origins();
    copy.#known.push(...this.#known.filter(isFounder).map(toOpen));
    copy.#update();
    return copy;
  }

  /**
   * The origins of the red logs by the ordinals of their partitions. The first one is that of
   * `main`.
   */
  get logs(): readonly Origin[] {
    return this.#logs;
  }

  /** Whether it is the origin of a red log. */
  isLog(ordinal: number): boolean {
    return ordinal === RED || this.#known[ordinal - FIRST_SITE]?.kind === 'log';
  }

  /** The origins of sites in order, including closed ones. */
  get sites(): readonly Origin[] {
    return this.#sites;
  }

  /** The origins of sites that are open or joining, in order. */
  get members(): readonly Origin[] {
    return this.#members;
  }

  /** The origins of sites that are no longer members. */
  get closed(): readonly Origin[] {
    return this.#closed;
  }

  /**
   * The stamps of the ends of closed streams, by ordinal. It is `undefined` if no origin is closed.
   */
  get finals(): readonly (number | undefined)[] | undefined {
    return this.#finals;
  }

  /** The number of ordinals, that of the red order included. A vector has this many entries. */
  get size(): number {
    return FIRST_SITE + this.#known.length;
  }

  isSite(ordinal: number): ordinal is Origin {
    return (
      Number.isInteger(ordinal) &&
      ordinal >= FIRST_SITE &&
      ordinal < this.size &&
      this.#known[ordinal - FIRST_SITE]?.kind === undefined
    );
  }

  /** Whether it is the origin of a site that is open or joining. */
  isMember(ordinal: number): ordinal is Origin {
    return this.isSite(ordinal) && isMember(this.get(ordinal));
  }

  /** Returns the present origin of the site with this name, or `undefined` if there is none. */
  find(site: string): Origin | undefined {
    return this.#members.findLast((origin) => this.get(origin).site === site);
  }

  /**
   * Returns the origin that a client names as the home of an operation, in the form of
   * `formatHome`. It may have been closed since.
   */
  findHome(home: string): Origin | undefined {
    return this.#sites.find((origin) => formatHome(this.get(origin)) === home);
  }

  /** @throws Error if it is the origin of no site */
  get(origin: Origin): KnownOrigin {
    const known = this.#known[origin - FIRST_SITE];
    if (known === undefined || known.kind === 'log')
      throw new Error(`no site has ordinal ${origin} in this deployment`);
    return known;
  }

  /** Returns the name of a site, or of a partition, for messages. */
  getName(origin: Origin): string {
    return this.#known[origin - FIRST_SITE]?.site ?? `site ${origin}`;
  }

  /** The names of the sites that are open or joining, in order. */
  get names(): string[] {
    return this.#members.map((origin) => this.getName(origin));
  }

  /** The names of the sites that the deployment was made with, in order. They never change. */
  get founders(): string[] {
    return this.#sites
      .map((origin) => this.get(origin))
      .filter(isFounder)
      .map(({ site }) => site);
  }

  /**
   * The number of sites that the deployment was created with. Their ordinals are the first ones.
   */
  get founderCount(): number {
    return this.#founderCount;
  }

  /** Returns the other sites that are open or joining, in order. */
  getOthers(than: Origin): Origin[] {
    return this.#members.filter((item) => item !== than);
  }

  add(known: KnownOrigin): Origin {
    this.#known.push(known);
    this.#update();
    return (this.size - 1) as Origin;
  }

  set(origin: Origin, change: StateChange): void {
    this.#known[origin - FIRST_SITE] = { ...this.get(origin), ...change };
    this.#update();
  }

  save(): SavedOrigin[] {
    return this.#known.map(({ site, incarnation, state, ...details }) =>
      Object.keys(details).length === 0
        ? [site, incarnation, state]
        : [site, incarnation, state, details],
    );
  }

  /**
   * Restores a saved table. Known origins must be the same in it, or vectors would mean something
   * else. Origins that have joined later are added. Changes since the save are lost here, and a
   * start takes them from the red log again.
   *
   * @throws Error naming the first origin that differs
   */
  load(saved: readonly SavedOrigin[]): void {
    const isEmpty = this.#known.length === 0;
    const founders = this.#known.filter(isFounder);
    this.#known.length = Math.max(saved.length, founders.length);
    for (const [place, founder] of founders.entries()) this.#known[place] = toOpen(founder);
    for (const [place, [site, incarnation, state, details]] of saved.entries()) {
      const known = this.#known[place];
      const fits =
        known === undefined
          ? incarnation > 0 || isEmpty
          : known.site === site &&
            known.incarnation === incarnation &&
            known.kind === details?.kind;
      if (!fits) {
        const now =
          known === undefined ? 'no site' : `${known.site} (incarnation ${known.incarnation})`;
        throw new Error(
          `ordinal ${FIRST_SITE + place} was ${site} (incarnation ${incarnation}), and is ${now}`,
        );
      }
      this.#known[place] = { site, incarnation, state, ...details };
    }
    this.#update();
  }

  #update(): void {
    const ordinals = this.#known.map((_, place) => (FIRST_SITE + place) as Origin);
    this.#logs = [RED, ...ordinals.filter((origin) => this.isLog(origin))];
    this.#sites = ordinals.filter((origin) => !this.isLog(origin));
    this.#founderCount = this.#sites.filter((origin) => isFounder(this.get(origin))).length;
    this.#members = this.#sites.filter((origin) => isMember(this.get(origin)));
    this.#closed = this.#sites.filter((origin) => !isMember(this.get(origin)));
    const isAnyClosed = this.#known.some(({ final }) => final !== undefined);
    this.#finals = isAnyClosed
      ? [undefined, ...this.#known.map(({ final }) => final?.stamp)]
      : undefined;
  }
}

/**
 * Returns the name of an origin for clients: that of its site, unless it is a later incarnation.
 */
export function formatHome({ site, incarnation }: KnownOrigin): string {
  return incarnation === 0 ? site : `${site}~${incarnation}`;
}

/**
 * Returns the name of a start of a site, with which all names begin that the site itself gives. No
 * other start has it.
 */
export function formatStartName({ site, incarnation }: KnownOrigin, start: number): string {
  return `${site}-${incarnation.toString(36)}-${start.toString(36)}`;
}
