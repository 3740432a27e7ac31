/**
 * Origins: the sources of the stamps in a vector. Each origin has an ordinal,
 * which is assigned once and never changes its meaning: in vectors, in logs, in
 * messages between sites and in saved data. The red order has ordinal 0, so it
 * stands first wherever ordinals are counted. Sites follow from 1 on, and a
 * site that joins moves no other ordinal.
 *
 * A site is one origin as long as it has its past. One that starts without it
 * would number its operations from the beginning again, and contradict itself
 * for ever: so it comes as another *incarnation*, which is another origin.
 */

declare const brand: unique symbol;

/** The ordinal of an origin. An index of a list of sites is none. */
export type Origin = number & { readonly [brand]: 'origin' };

/** The red order. */
export const RED: Origin = 0 as Origin;

const FIRST_SITE = 1;

/** Ordinals that are looked at: larger ones no deployment comes to. */
export const MAX_ORIGINS = 1 << 16;

/**
 * The state of an origin. `joining`: it receives and reads, and makes no
 * operations before all others know of it. `closing`: the others take no more
 * from it, and report how much of its stream they hold. `closed`: its stream
 * has an end.
 */
export type OriginState = 'joining' | 'open' | 'closing' | 'closed';

/**
 * The last operation of a stream that counts; both numbers are 0 if there is
 * none.
 */
export interface StreamEnd {
  readonly sequence: number;
  readonly stamp: number;
}

export interface SiteAddress {
  readonly url: string;
  readonly cluster: string;
}

/** What is known of a site's origin. */
export interface KnownOrigin {
  readonly site: string;
  /**
   * 0 for the first sites. Of one that joined later, the place of its record in
   * the red log, from 1 on.
   */
  readonly incarnation: number;
  readonly state: OriginState;
  /** Of a closed one. */
  readonly final?: StreamEnd | undefined;
  /** Of one that has joined: the identity of its data directory. */
  readonly directory?: string | undefined;
  readonly address?: SiteAddress | undefined;
}

type OriginDetails = Pick<KnownOrigin, 'final' | 'directory' | 'address'>;

export type SavedOrigin = readonly [
  site: string,
  incarnation: number,
  state: OriginState,
  details?: OriginDetails,
];

const isMember = ({ state }: KnownOrigin): boolean =>
  state === 'open' || state === 'joining';

/**
 * All origins of a deployment, by their ordinals: a table that only ever grows
 * at its end. All parts of a site share one, which the records of the red log
 * change as they are delivered (`replica/membership.ts`). Sites that share a
 * table cannot have its members changed.
 */
export class Origins {
  readonly #known: KnownOrigin[] = [];
  #sites: readonly Origin[] = [];
  #founderCount = 0;
  #members: readonly Origin[] = [];
  #closed: readonly Origin[] = [];
  /** By ordinal; `undefined` as long as no origin is closed. */
  #finals: readonly (number | undefined)[] | undefined;

  /**
   * Those that a deployment is made with: its sites, in the order in which it
   * names them.
   */
  static create(sites: readonly string[]): Origins {
    const origins = new Origins();
    for (const site of sites)
      origins.#known.push({ site, incarnation: 0, state: 'open' });
    origins.#update();
    return origins;
  }

  /** Those of sites, in order, the closed ones among them. */
  get sites(): readonly Origin[] {
    return this.#sites;
  }

  /** Those of sites that are open or joining, in order. */
  get members(): readonly Origin[] {
    return this.#members;
  }

  /** Those of sites that are no members any more. */
  get closed(): readonly Origin[] {
    return this.#closed;
  }

  /**
   * The stamps of the ends of closed streams, by ordinal; `undefined` if no
   * origin is closed.
   */
  get finals(): readonly (number | undefined)[] | undefined {
    return this.#finals;
  }

  /**
   * Ordinals given so far, that of the red order among them: so many entries
   * has a vector.
   */
  get size(): number {
    return FIRST_SITE + this.#known.length;
  }

  isSite(ordinal: number): ordinal is Origin {
    return (
      Number.isInteger(ordinal) && ordinal >= FIRST_SITE && ordinal < this.size
    );
  }

  /** Whether it is the origin of a site that is open or joining. */
  isMember(ordinal: number): ordinal is Origin {
    return this.isSite(ordinal) && isMember(this.get(ordinal));
  }

  /**
   * The origin of a site that has its name now; none where there is no such
   * site.
   */
  find(site: string): Origin | undefined {
    return this.#members.findLast((origin) => this.get(origin).site === site);
  }

  /**
   * The origin that a client calls the home of an operation, as `formatHome`
   * writes it. It may be closed since.
   */
  findHome(home: string): Origin | undefined {
    return this.#sites.find((origin) => formatHome(this.get(origin)) === home);
  }

  /** @throws Error where it is the origin of no site */
  get(origin: Origin): KnownOrigin {
    const known = this.#known[origin - FIRST_SITE];
    if (known === undefined)
      throw new Error(`no site has ordinal ${origin} in this deployment`);
    return known;
  }

  /** The name of a site, for people. */
  getName(origin: Origin): string {
    return this.#known[origin - FIRST_SITE]?.site ?? `site ${origin}`;
  }

  /** The names of the sites that are open or joining, in order. */
  get names(): string[] {
    return this.#members.map((origin) => this.getName(origin));
  }

  /**
   * The names of the sites that the deployment was made with, in order. They
   * never change.
   */
  get founders(): string[] {
    return this.#known.flatMap(({ site, incarnation }) =>
      incarnation === 0 ? [site] : [],
    );
  }

  /**
   * How many sites the deployment was made with: their ordinals are the first
   * ones.
   */
  get founderCount(): number {
    return this.#founderCount;
  }

  /** The sites beside one that are open or joining, in order. */
  getOthers(than: Origin): Origin[] {
    return this.#members.filter((item) => item !== than);
  }

  add(known: KnownOrigin): Origin {
    this.#known.push(known);
    this.#update();
    return (this.size - 1) as Origin;
  }

  set(origin: Origin, change: Pick<KnownOrigin, 'state' | 'final'>): void {
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
   * Takes up what was saved: of origins that are known it must say the same, or
   * its vectors would mean something else. Those that have joined since the
   * deployment was made are added, and what the table has come to know since is
   * gone: a start takes it from the red log again.
   *
   * @throws Error naming the first that differs
   */
  load(saved: readonly SavedOrigin[]): void {
    const isEmpty = this.#known.length === 0;
    const founders = this.#known.filter(({ incarnation }) => incarnation === 0);
    this.#known.length = Math.max(saved.length, founders.length);
    for (const [place, { site }] of founders.entries())
      this.#known[place] = { site, incarnation: 0, state: 'open' };
    for (const [
      place,
      [site, incarnation, state, details],
    ] of saved.entries()) {
      const known = this.#known[place];
      const fits =
        known === undefined
          ? incarnation > 0 || isEmpty
          : known.site === site && known.incarnation === incarnation;
      if (!fits) {
        const now =
          known === undefined
            ? 'no site'
            : `${known.site} (incarnation ${known.incarnation})`;
        throw new Error(
          `ordinal ${FIRST_SITE + place} was ${site} (incarnation ${incarnation}), and is ${now}`,
        );
      }
      this.#known[place] = { site, incarnation, state, ...details };
    }
    this.#update();
  }

  #update(): void {
    this.#sites = this.#known.map((_, place) => (FIRST_SITE + place) as Origin);
    this.#founderCount = this.#known.filter(
      ({ incarnation }) => incarnation === 0,
    ).length;
    this.#members = this.#sites.filter((origin) => isMember(this.get(origin)));
    this.#closed = this.#sites.filter((origin) => !isMember(this.get(origin)));
    const isAnyClosed = this.#known.some(({ final }) => final !== undefined);
    this.#finals = isAnyClosed
      ? [undefined, ...this.#known.map(({ final }) => final?.stamp)]
      : undefined;
  }
}

/**
 * What clients call an origin: as the site, unless it is a later incarnation.
 */
export function formatHome({ site, incarnation }: KnownOrigin): string {
  return incarnation === 0 ? site : `${site}~${incarnation}`;
}

/**
 * The name of a start of a site, which begins what the site itself names. No
 * other start has it.
 */
export function formatStartName(
  { site, incarnation }: KnownOrigin,
  start: number,
): string {
  return `${site}-${incarnation.toString(36)}-${start.toString(36)}`;
}
