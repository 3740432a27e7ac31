/** The connections of this page to all sites of the backend. */
import { CorrectableError } from 'correctables';
import { ConnectionWatch } from './connection-watch.ts';
import { closeSites, openSites, type OpenSites, type Site } from './sites.ts';

export interface BackendEvents {
  /** Called when a site is lost or found again. */
  readonly onChange: () => void;
  /** Called when no site can be reached any more, not even after some time. */
  readonly onGone: (reason: CorrectableError) => void;
}

export class Backend {
  readonly sites: readonly Site[];
  readonly #connections: ConnectionWatch;

  /**
   * Connects to every site.
   *
   * @throws CorrectableError `UNAVAILABLE` when the site directory does not answer
   */
  static async connect(events: BackendEvents, open: OpenSites = openSites): Promise<Backend> {
    let sites: readonly Site[] = [];
    const connections = new ConnectionWatch({
      onChange: events.onChange,
      onAllGone: () => {
        const isOnPurpose = sites.some(({ isCut }) => isCut);
        if (!isOnPurpose)
          events.onGone(new CorrectableError('UNAVAILABLE', 'None of the sites can be reached.'));
      },
    });
    sites = await open((site, state) => connections.note(site, state));
    return new Backend(sites, connections);
  }

  private constructor(sites: readonly Site[], connections: ConnectionWatch) {
    this.sites = sites;
    this.#connections = connections;
  }

  /** Names of the sites that have no connection at the moment. */
  get lost(): readonly string[] {
    return this.sites.map(({ name }) => name).filter((name) => this.#connections.isLost(name));
  }

  /** The sites that can be reached at the moment. */
  get reachable(): readonly Site[] {
    return this.sites.filter(({ name }) => !this.#connections.isLost(name));
  }

  /** @throws CorrectableError `INVALID_ARGUMENT` for a site that the backend does not have */
  site(name: string): Site {
    const site = this.sites.find((item) => item.name === name);
    if (site !== undefined) return site;
    const known = this.sites.map((item) => item.name).join(', ');
    const message = `There is no site "${name}"; retailers can stand beside ${known}.`;
    throw new CorrectableError('INVALID_ARGUMENT', message, { field: 'retailers' });
  }

  /**
   * Resolves once the named site, or any if none is named, can be reached; or when `signal` aborts.
   */
  whenOnline(name: string | undefined, signal: AbortSignal): Promise<void> {
    const names = name === undefined ? this.sites.map((item) => item.name) : [name];
    return this.#connections.whenOnline(names, signal);
  }

  /** Closes all connections; purchases in flight fail. */
  close(): Promise<void> {
    return closeSites(this.sites);
  }
}
