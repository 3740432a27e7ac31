/** The composition root: a service at several sites, each behind a gateway, on one port. */
import type { RequestListener } from 'node:http';
import { checkOptionNames, type OptionNamesOf } from '../correctable/validate.ts';
import { openEmbedded, type Embedded, type OpenedDeployment } from './embedded.ts';
import { EMBEDDED_OPTIONS, type EmbeddedOptions } from './embedded-options.ts';
import { createGateway, type Gateway } from './gateway/gateway.ts';
import type { Authenticate, Authorize } from './gateway/context/gateway-context.ts';
import type { GatewayLimits } from './gateway/limits/limits.ts';
import { listenGateways, type GatewayListener } from './gateway/listen/listen.ts';
import type { Logger } from './gateway/context/logger.ts';
import type { StoreMetric } from './gateway/listen/metrics.ts';
import { requireService, type Service } from './service/service.ts';

/** What to serve, and where. */
export interface ServeOptions<N extends string = string> extends EmbeddedOptions<N> {
  readonly service: Service;
  /** Address to bind. Default: 127.0.0.1, reachable from this machine only. */
  readonly host?: string | undefined;
  /** Default 0: any free port. */
  readonly port?: number | undefined;
  /** Origins of pages that may connect, beside pages of this server. */
  readonly origins?: readonly string[] | undefined;
  /** Verifies a client's token, at all sites. Default: everybody is the same principal. */
  readonly authenticate?: Authenticate | undefined;
  /** Whether a principal may execute an operation. Default: yes. */
  readonly authorize?: Authorize | undefined;
  /** Bounds of each site's gateway. */
  readonly limits?: Partial<GatewayLimits> | undefined;
  /** Listens also on addresses that others can reach, although everybody is let in. */
  readonly allowUnauthenticated?: boolean | undefined;
  /** How long the thread stays awake after an answer, in microseconds: see `listenGateways`. Default 0. */
  readonly busyPollUs?: number | undefined;
  /** Default: silence. */
  readonly logger?: Logger | undefined;
  /** Answers the HTTP requests that are not the server's own, for example with a page. Default: 404. */
  readonly page?: RequestListener | undefined;
}

const CALL = "serve({ service, sites: ['ireland', 'frankfurt'] })";

const OPTIONS: OptionNamesOf<ServeOptions> = {
  service: true,
  ...EMBEDDED_OPTIONS,
  host: true,
  port: true,
  origins: true,
  authenticate: true,
  authorize: true,
  limits: true,
  allowUnauthenticated: true,
  busyPollUs: true,
  logger: true,
  page: true,
};

/** A running server. */
export interface RunningServer<N extends string = string> {
  readonly sites: readonly N[];
  /** Base address for HTTP: `/health`, `/sites`, and the page if there is one. */
  readonly url: string;
  /** The websocket address of a site, for `redblue(contract, { url })`. */
  siteUrl(name: N): string;
  /** Lets what is in flight end, then closes the connections, the sites and the port. */
  close(options?: { readonly drainMs?: number }): Promise<void>;
}

/**
 * Serves a service from all its sites in this process. With a `dataDir` what was answered survives the process; without
 * one state lives in memory and is gone with it.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not fit; as `createEmbedded` where the data
 * directory cannot be used; the system's error when the port is taken.
 * @example
 * const server = await serve({ service, sites: ['ireland', 'frankfurt', 'virginia'], redLeader: 'ireland',
 * latency: 'eu-us', port: 7400 });
 * const shop = createClient(redblue(contract, { url: server.siteUrl('frankfurt') }));
 */
export async function serve<const N extends string>(options: ServeOptions<N>): Promise<RunningServer<N>> {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  requireService(options.service, CALL);
  const { service, page, host, port, allowUnauthenticated, busyPollUs, logger, ...others } = options;
  const { origins, authenticate, authorize, limits, ...deployment } = others;
  const { embedded: backend, begin, rejectedMessages } = openEmbedded(service, deployment);
  const sites: Record<string, Gateway> = {};
  let listener: GatewayListener | undefined;
  try {
    for (const site of backend.sites) {
      const binding = backend.site(site);
      const { contract } = service;
      sites[site] = createGateway({ site, binding, contract, origins, authenticate, authorize, limits, logger });
    }
    const opened = (listener = await listenGateways({
      sites,
      host,
      port,
      allowUnauthenticated,
      busyPollUs,
      page,
      logger,
      metrics: [
        createCertificationMetrics(backend),
        createMessageMetrics(backend.sites, rejectedMessages),
        ...createRetentionMetrics(backend),
      ],
    }));
    // Only now, so that whatever is refused leaves the data as it was; and at once, before anybody is let in.
    begin();
    return {
      sites: backend.sites,
      url: opened.url,
      siteUrl: (name) => opened.siteUrl(name),
      close: async (closing) => {
        await opened.close(closing);
        await backend.close();
      },
    };
  } catch (error) {
    await listener?.close();
    await Promise.all(Object.values(sites).map((gateway) => gateway.close()));
    await backend.close();
    throw error;
  }
}

function createCertificationMetrics<N extends string>(backend: Embedded<N>): StoreMetric {
  return {
    kind: 'counter',
    name: 'correctables_red_rejected_total',
    help: 'Red operations rejected by certification, and executed again, by what they met',
    labels: ['site', 'reason'],
    read: () =>
      backend.sites.flatMap((site) =>
        Object.entries(backend.certificationStats(site)).map(([reason, value]) => ({
          labels: { site, reason },
          value,
        })),
      ),
  };
}

function createMessageMetrics<N extends string>(
  sites: readonly N[],
  refusedMessages: OpenedDeployment<N>['rejectedMessages'],
): StoreMetric {
  return {
    kind: 'counter',
    name: 'correctables_site_messages_refused_total',
    help: 'Messages of other sites that were not taken, by reason',
    labels: ['site', 'reason'],
    read: () =>
      sites.flatMap((site) =>
        Object.entries(refusedMessages(site)).map(([reason, value]) => ({ labels: { site, reason }, value })),
      ),
  };
}

function createRetentionMetrics<N extends string>(backend: Embedded<N>): StoreMetric[] {
  const gauge = (name: string, help: string, figure: 'operations' | 'bytes'): StoreMetric => ({
    kind: 'gauge',
    name,
    help,
    labels: ['site', 'log'],
    read: () =>
      backend.sites.flatMap((site) =>
        Object.entries(backend.retainedReplies(site)).map(([log, of]) => ({
          labels: { site, log },
          value: of[figure],
        })),
      ),
  });
  return [
    gauge('correctables_answers_remembered', 'Updates whose outcome a log retains for retries', 'operations'),
    gauge('correctables_answer_bytes_remembered', 'About how many bytes their answers take', 'bytes'),
  ];
}
