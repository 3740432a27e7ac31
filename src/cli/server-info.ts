/** Describes a started server for its operator, as lines of text and as data. */
import { HTTP_PATHS } from '../server/gateway/listen/http-paths.ts';
import { isLoopbackHost } from '../server/gateway/context/origins.ts';

export interface ServedSites {
  /** Base address for HTTP. */
  readonly url: string;
  readonly redLeader: string;
  /** The websocket addresses, by site. */
  readonly sites: Readonly<Record<string, string>>;
}

export interface ServerInfo extends ServedSites {
  /**
   * The clients that may connect: those with a token, or programs of this machine, or all clients.
   */
  readonly access: 'authenticated' | 'loopback' | 'everybody';
  /** The origins of pages that may connect, beside the server's own. */
  readonly origins: readonly string[];
  /** The data directory; `null` if nothing is stored. */
  readonly data: string | null;
  readonly http: readonly string[];
}

export interface ServerInfoOptions {
  readonly origins: readonly string[];
  readonly dataDir: string | undefined;
  readonly requiresToken: boolean;
}

export function getServerInfo(
  { url, redLeader, sites }: ServedSites,
  { origins, dataDir, requiresToken }: ServerInfoOptions,
): ServerInfo {
  return {
    url,
    redLeader,
    sites,
    access: requiresToken
      ? 'authenticated'
      : isLoopbackHost(new URL(url).hostname)
        ? 'loopback'
        : 'everybody',
    origins,
    data: dataDir ?? null,
    http: HTTP_PATHS.map((path) => `${url}/${path}`),
  };
}

const ACCESS: Readonly<Record<ServerInfo['access'], string>> = {
  authenticated: 'who has a token that is accepted',
  loopback: 'programs of this machine only, without a token',
  everybody: 'EVERYBODY who can reach this address, without a token',
};

export function formatServerInfo({
  url,
  redLeader,
  sites,
  access,
  origins,
  data,
  http,
}: ServerInfo): string[] {
  const names = Object.keys(sites);
  const longest = Math.max(...names.map((name) => name.length));
  const pages = ['its own', ...origins].join(', ');
  return [
    `serving at ${url}`,
    ...names.map(
      (name) =>
        `  ${name.padEnd(longest)}  ${sites[name]}${name === redLeader ? '  red leader' : ''}`,
    ),
    `who may connect: ${ACCESS[access]}`,
    `pages that may connect: ${pages}`,
    data === null ? 'data: in memory, gone with this process' : `data: in ${data}`,
    `over HTTP: ${http.map((address) => address.slice(url.length)).join(' ')}`,
  ];
}
