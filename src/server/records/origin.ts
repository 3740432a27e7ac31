/**
 * Origins: who gives the stamps of a vector. Each has an ordinal, which is given once and means the same for ever: in
 * vectors, in what is logged, in what sites send each other and in what is saved. That of the red order is 0, so that it
 * stands first wherever ordinals are counted; sites follow from 1 on, and one that joins moves nobody's place.
 *
 * A site is one origin as long as it has its past. One that starts without it would number its operations from the
 * beginning again, and contradict itself for ever: so it comes as another *incarnation*, which is another origin.
 */

declare const brand: unique symbol;

/** The ordinal of an origin. An index of a list of sites is none. */
export type Origin = number & { readonly [brand]: 'origin' };

/** The red order. */
export const RED: Origin = 0 as Origin;

/** The first site of a deployment. */
const FIRST_SITE = 1;

/** How an origin stands; others will come with the records of the red order that let sites join and leave. */
export type OriginState = 'open';

/** What is known of a site's origin. */
export interface KnownOrigin {
  /** The name of the site. */
  readonly site: string;
  /**
   * Which start without a past this is: 0 for the sites that the deployment was made with. A later one is the place, from
   * 1 on, of the record in the red log by which it joined.
   */
  readonly incarnation: number;
  readonly state: OriginState;
}

/** An origin as it is saved. */
export type SavedOrigin = readonly [site: string, incarnation: number, state: OriginState];

/** All origins of a deployment, by their ordinals: a table that only ever grows at its end. */
export class Origins {
  readonly #known: readonly KnownOrigin[];
  /** Those of sites, in order. */
  readonly sites: readonly Origin[];

  private constructor(known: readonly KnownOrigin[]) {
    this.#known = known;
    this.sites = known.map((_, place) => (FIRST_SITE + place) as Origin);
  }

  /** Those that a deployment is made with: its sites, in the order in which it names them. */
  static create(sites: readonly string[]): Origins {
    return new Origins(sites.map((site) => ({ site, incarnation: 0, state: 'open' })));
  }

  /** Ordinals given so far, that of the red order among them: so many entries has a vector. */
  get size(): number {
    return FIRST_SITE + this.#known.length;
  }

  /** Whether there is a site's origin with this ordinal. */
  isSite(ordinal: number): ordinal is Origin {
    return Number.isInteger(ordinal) && ordinal >= FIRST_SITE && ordinal < this.size;
  }

  /** The origin of a site that has its name now; none where there is no such site. */
  find(site: string): Origin | undefined {
    return this.sites.findLast((origin) => this.get(origin).site === site);
  }

  /** @throws Error where it is the origin of no site */
  get(origin: Origin): KnownOrigin {
    const known = this.#known[origin - FIRST_SITE];
    if (known === undefined) throw new Error(`no site has ordinal ${origin} in this deployment`);
    return known;
  }

  /** The name of a site, for people. */
  getName(origin: Origin): string {
    return this.#known[origin - FIRST_SITE]?.site ?? `site ${origin}`;
  }

  /** The names of all, in order. */
  get names(): string[] {
    return this.#known.map(({ site }) => site);
  }

  /** The sites beside one, in order. */
  getOthers(than: Origin): Origin[] {
    return this.sites.filter((item) => item !== than);
  }

  save(): SavedOrigin[] {
    return this.#known.map(({ site, incarnation, state }) => [site, incarnation, state]);
  }

  /**
   * Checks that what was saved with a table says the same of its ordinals: else its vectors would mean something else.
   *
   * @throws Error naming the first that differs
   */
  check(saved: readonly SavedOrigin[]): void {
    for (const [place, [site, incarnation]] of saved.entries()) {
      const known = this.#known[place];
      if (known?.site === site && known.incarnation === incarnation) continue;
      const now = known === undefined ? 'nobody' : `${known.site} (incarnation ${known.incarnation})`;
      throw new Error(`ordinal ${FIRST_SITE + place} was ${site} (incarnation ${incarnation}), and is ${now}`);
    }
  }
}

/**
 * The name of a start of a site, which begins what the site itself names: markers, floors, identifiers that generators
 * draw. No other start of any incarnation has it.
 */
export function formatStartName({ site, incarnation }: KnownOrigin, start: number): string {
  return `${site}-${incarnation.toString(36)}-${start.toString(36)}`;
}
