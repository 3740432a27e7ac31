/** One client of the cluster, at one site, by one way: it can be closed and take its place again. */
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { Site } from '../../../engines/wan.ts';
import { cassandra } from '../../../src/bindings/cassandra/index.ts';
import { createClient, type AnyClient } from '../../../src/index.ts';
import { Links } from './links.ts';
import { statements } from './statements.ts';
import { PROFILES, TABLE, type Keyspaces, type Profile } from './tables.ts';

export interface Place {
  readonly site: Site;
  readonly profile: Profile;
  /** Two reads, or one to a coordinator that gives preliminary views. */
  readonly correctable: 'never' | 'auto';
}

/** Longer than a coordinator waits for its replicas. */
const REQUEST_MS = 6_000;

const { quorum, quick, everyone, thin } = PROFILES;

/** Several of one coordinator, so that statements are prepared by one and used by another. */
export const PLACES: readonly Place[] = [
  { site: 'frk', profile: quorum, correctable: 'auto' },
  { site: 'frk', profile: quorum, correctable: 'auto' },
  { site: 'frk', profile: quorum, correctable: 'never' },
  { site: 'irl', profile: quorum, correctable: 'auto' },
  { site: 'vrg', profile: quorum, correctable: 'never' },
  { site: 'vrg', profile: quorum, correctable: 'auto' },
  { site: 'frk', profile: quick, correctable: 'auto' },
  { site: 'irl', profile: quick, correctable: 'never' },
  { site: 'frk', profile: everyone, correctable: 'never' },
  { site: 'irl', profile: everyone, correctable: 'auto' },
  { site: 'frk', profile: thin, correctable: 'auto' },
  { site: 'vrg', profile: thin, correctable: 'never' },
];

export class Seat implements AsyncDisposable {
  readonly name: string;
  readonly place: Place;
  readonly links: Links;
  readonly #keyspace: string;
  readonly #closing: Promise<void>[] = [];
  #store: AnyClient;
  #takes = 1;

  private constructor(name: string, place: Place, links: Links, keyspace: string) {
    this.name = name;
    this.place = place;
    this.links = links;
    this.#keyspace = keyspace;
    this.#store = this.#open();
  }

  static async take(cluster: Cluster, keyspaces: Keyspaces, place: Place, number: number): Promise<Seat> {
    const { site, profile, correctable } = place;
    const way = correctable === 'never' ? 'two-reads' : 'one-read';
    const links = await Links.open(cluster, site);
    return new Seat(`${profile.name}-${site}-${way}-${number}`, place, links, keyspaces[profile.name]);
  }

  get store(): AnyClient {
    return this.#store;
  }

  /** Grows with each client that takes the seat. */
  get takes(): number {
    return this.#takes;
  }

  /** Another client takes the seat, and the one before is closed with all that it has under way. */
  retake(): void {
    const before = this.#store;
    this.#store = this.#open();
    this.#takes += 1;
    this.#closing.push(before.close());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#closing, this.#store.close()]);
    await this.links[Symbol.asyncDispose]();
  }

  #open(): AnyClient {
    const { profile, correctable } = this.place;
    const { read, write } = profile;
    const { contactPoints } = this.links;
    const translateAddress = (host: string): string => this.links.translate(host);
    const cluster = { contactPoints, translateAddress, keyspace: this.#keyspace, table: TABLE };
    const options = { ...cluster, read, write, correctable, statements, requestTimeoutMs: REQUEST_MS };
    return createClient(cassandra(options));
  }
}
