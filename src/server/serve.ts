/**
 * Serves a service at several sites of one process: each site has a gateway, and all share a port.
 */
import type { RequestListener } from 'node:http';
import {
  optional,
  readOptions,
  required,
  text,
  type Option,
  type OptionsOf,
} from '../correctable/options.ts';
import { openDeployment } from './node/embedded/embedded.ts';
import { EMBEDDED_OPTIONS, type EmbeddedOptions } from './node/embedded/embedded-options.ts';
import { getClientMemoryBytes } from './node/memory/memory-size.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import { GATEWAY_OPTIONS } from './gateway/gateway-options.ts';
import type { Authenticate, Authorize } from './gateway/context/gateway-context.ts';
import type { GatewayLimits } from './gateway/limits/limits.ts';
import { listenGateways, type GatewayListener } from './gateway/listen/listen.ts';
import { LISTEN_OPTIONS } from './gateway/listen/listen-options.ts';
import type { OperatorToken } from './gateway/listen/operator-token.ts';
import type { Logger } from './gateway/context/logger.ts';
import { createProgressLog } from './progress-log.ts';
import { requireService, type Service } from './service/service.ts';
import { createSiteMetrics } from './site-metrics.ts';

/** Options of `serve`. */
export interface ServeOptions<N extends string = string> extends EmbeddedOptions<N> {
  /** The service, made by `defineService`. */
  readonly service: Service;
  /**
   * The directory for logs and rows, created if it is missing. Each confirmed write is on the disk.
   * Without it, the state is in memory and is lost when the process ends.
   */
  readonly dataDir?: string | undefined;
  /** Address to listen on. Default: `127.0.0.1`, which only this machine can reach */
  readonly host?: string | undefined;
  /** Port to listen on. Default: 0, any free port */
  readonly port?: number | undefined;
  /** Origins of pages that may connect, in addition to pages of this server. Default: none */
  readonly origins?: readonly string[] | undefined;
  /** Verifies the token of a client, at all sites. Default: all clients are the same principal */
  readonly authenticate?: Authenticate | undefined;
  /** Decides whether a principal may execute an operation. Default: always */
  readonly authorize?: Authorize | undefined;
  /**
   * Opens `/metrics` and the details of `/health` to requests with this token, as for
   * `listenGateways`. A client's token does not. Default: they are open without `authenticate`, and
   * closed otherwise
   */
  readonly operatorToken?: OperatorToken | undefined;
  /** Limits of each site's gateway, see `GatewayLimits`. */
  readonly limits?: Partial<GatewayLimits> | undefined;
  /** Listens on addresses that others can reach even without `authenticate`. Default: `false` */
  readonly allowUnauthenticated?: boolean | undefined;
  /** Receives log messages. Default: none are logged */
  readonly logger?: Logger | undefined;
  /**
   * Handles the HTTP requests for other paths than the server's own, for example with a page.
   * Default: 404
   */
  readonly page?: RequestListener | undefined;
}

const CALL = "serve({ service, sites: ['ireland', 'frankfurt'] })";

/** The options that concern clients. */
export const CLIENT_OPTIONS = {
  host: LISTEN_OPTIONS.host,
  port: LISTEN_OPTIONS.port,
  origins: GATEWAY_OPTIONS.origins,
  authenticate: GATEWAY_OPTIONS.authenticate,
  authorize: GATEWAY_OPTIONS.authorize,
  operatorToken: LISTEN_OPTIONS.operatorToken,
  limits: GATEWAY_OPTIONS.limits,
  allowUnauthenticated: LISTEN_OPTIONS.allowUnauthenticated,
  logger: LISTEN_OPTIONS.logger,
  page: LISTEN_OPTIONS.page,
} satisfies OptionsOf<Omit<ServeOptions, keyof EmbeddedOptions | 'service' | 'dataDir'>>;

/** @param call a correct call, for the error */
export function serviceOption(call: string): Option<never> {
  return required((value) => {
    requireService(value, call);
    return undefined;
  });
}

const OPTIONS = {
  service: serviceOption(CALL),
  ...EMBEDDED_OPTIONS,
  dataDir: optional(text),
  ...CLIENT_OPTIONS,
} satisfies OptionsOf<ServeOptions>;

/** A running server. */
export interface RunningServer<N extends string = string> {
  readonly sites: readonly N[];
  /** Base address for HTTP: `/health`, `/sites`, and the page if there is one. */
  readonly url: string;
  /** Returns the websocket address of a site, for `redblue(contract, { url })`. */
  siteUrl(name: N): string;
  /** Waits for operations in flight, then closes the connections, the sites and the port. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Starts a server for all sites of a service in this process. With a `dataDir`, all confirmed
 * writes survive a restart. Without one, the state is lost when the process ends. Rejects with the
 * system's error if the port is in use.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` with the name of the invalid option.
 * @throws CorrectableError as `openEmbedded` if the data directory cannot be used.
 * @example
 * const server = await serve({
 *   service,
 *   sites: ['ireland', 'frankfurt', 'virginia'],
 *   redLeader: 'ireland',
 *   latency: 'eu-us',
 *   port: 7400,
 * });
 * const url = server.siteUrl('frankfurt');
 * const shop = createClient(redblue(contract, { url }));
 */
export async function serve<const N extends string>(
  options: ServeOptions<N>,
): Promise<RunningServer<N>> {
  readOptions(options, { call: CALL }, OPTIONS);
  const { service, page, host, port, allowUnauthenticated, logger, operatorToken, ...others } =
    options;
  const { origins, authenticate, authorize, limits, ...deployment } = others;
  const { embedded, begin, getFigures } = await openDeployment(
    service,
    deployment,
    createProgressLog((message) => logger?.info({}, message)),
  );
  const sites: Record<string, Gateway> = {};
  let listener: GatewayListener | undefined;
  try {
    for (const site of embedded.sites) {
      const binding = embedded.site(site);
      const { contract } = service;
      sites[site] = createGateway({
        site,
        binding,
        contract,
        origins,
        authenticate,
        authorize,
        limits: { maxMemoryBytes: getClientMemoryBytes(embedded.sites.length), ...limits },
        logger,
      });
    }
    const opened = (listener = await listenGateways({
      sites,
      host,
      port,
      allowUnauthenticated,
      page,
      logger,
      operatorToken,
      metrics: createSiteMetrics({ sites: embedded.sites, getFigures }),
    }));
    // The data stays unchanged if a step before this one fails. The sites start before a client can
    // connect.
    begin();
    return {
      sites: embedded.sites,
      url: opened.url,
      siteUrl: (name) => opened.siteUrl(name),
      close: async (closing) => {
        await opened.close(closing);
        await embedded.close();
      },
    };
  } catch (error) {
    await listener?.close();
    await Promise.all(Object.values(sites).map((gateway) => gateway.close()));
    await embedded.close();
    throw error;
  }
}
