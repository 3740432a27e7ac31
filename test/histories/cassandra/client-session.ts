/**
 * One client of the cluster, at one site, by one way: it can be closed and take its place again.
 */
import type { Cluster } from '../../../engines/cassandra/cluster.ts';
import type { Site } from '../../../engines/wan.ts';
import { cassandra } from '../../../src/bindings/cassandra/index.ts';
import { createClient, type AnyClient } from '../../../src/index.ts';
import { preliminaryReplies } from '../../../src/research/cassandra-icg/index.ts';
import { Links } from './links.ts';
import { statements } from './statements.ts';
import { PROFILES, TABLE, type Keyspaces, type Profile } from './tables.ts';

export interface ClientLocation {
  readonly site: Site;
  readonly profile: Profile;
  /** Two requests, or one if the coordinator gives preliminary views. */
  readonly requestsPerRead: 1 | 2;
}

/** Longer than a coordinator waits for its replicas. */
const REQUEST_MS = 6_000;

const { quorum, quick, everyone, thin } = PROFILES;

/** Several of one coordinator, so that statements are prepared by one and used by another. */
export const CLIENT_LOCATIONS: readonly ClientLocation[] = [
  { site: 'frankfurt', profile: quorum, requestsPerRead: 1 },
  { site: 'frankfurt', profile: quorum, requestsPerRead: 1 },
  { site: 'frankfurt', profile: quorum, requestsPerRead: 2 },
  { site: 'ireland', profile: quorum, requestsPerRead: 1 },
  { site: 'virginia', profile: quorum, requestsPerRead: 2 },
  { site: 'virginia', profile: quorum, requestsPerRead: 1 },
  { site: 'frankfurt', profile: quick, requestsPerRead: 1 },
  { site: 'ireland', profile: quick, requestsPerRead: 2 },
  { site: 'frankfurt', profile: everyone, requestsPerRead: 2 },
  { site: 'ireland', profile: everyone, requestsPerRead: 1 },
  { site: 'frankfurt', profile: thin, requestsPerRead: 1 },
  { site: 'virginia', profile: thin, requestsPerRead: 2 },
];

export class ClientSession implements AsyncDisposable {
  readonly name: string;
  readonly place: ClientLocation;
  readonly links: Links;
  readonly #keyspace: string;
  readonly #closing: Promise<void>[] = [];
  #store: AnyClient;
  #takes = 1;

  private constructor(name: string, place: ClientLocation, links: Links, keyspace: string) {
    this.name = name;
    this.place = place;
    this.links = links;
    this.#keyspace = keyspace;
    this.#store = this.#open();
  }

  static async take(
    cluster: Cluster,
    keyspaces: Keyspaces,
    place: ClientLocation,
    number: number,
  ): Promise<ClientSession> {
    const { site, profile, requestsPerRead } = place;
    const way = requestsPerRead === 2 ? 'two-reads' : 'one-read';
    const links = await Links.open(cluster, site);
    return new ClientSession(
      `${profile.name}-${site}-${way}-${number}`,
      place,
      links,
      keyspaces[profile.name],
    );
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
    const { profile, requestsPerRead } = this.place;
    const { read, write } = profile;
    const { contactPoints } = this.links;
    const translateAddress = (host: string): string => this.links.translate(host);
    const cluster = { contactPoints, translateAddress, keyspace: this.#keyspace, table: TABLE };
    const replies = requestsPerRead === 1 ? preliminaryReplies() : undefined;
    const options = {
      ...cluster,
      read,
      write,
      preliminaryReplies: replies,
      statements,
      requestTimeoutMs: REQUEST_MS,
    };
    return createClient(cassandra(options));
  }
}
