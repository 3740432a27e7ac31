/** The flags of `correctables serve`, in the groups of its help. */
import { SITE_OPTIONS } from '../../server/node/site-options.ts';
import { LISTEN_OPTIONS } from '../../server/gateway/listen/listen-options.ts';
import type { Flag } from '../command.ts';

export const DEFAULT_DATA_DIR = 'correctables-data';
export const DEFAULT_SITES = 'ireland,frankfurt,virginia';
export const DEFAULT_PORT = 7420;

export const SERVE_FLAGS: readonly Flag[] = [
  {
    group: 'Service and sites',
    typed: '--service <module>',
    text: 'Load the service from this module: its export `service`, or a default, made by defineService',
  },
  {
    group: 'Service and sites',
    typed: '--sites <names>',
    text: `Run these sites in this process, separated by commas (default: ${DEFAULT_SITES})`,
  },
  {
    group: 'Service and sites',
    typed: '--red-leader <site>',
    text: 'Order red operations at this site (default: the first)',
  },
  {
    group: 'Service and sites',
    typed: '--max-attempts <count>',
    text: 'Run a red write at most this often if others keep overtaking it, before CONFLICT',
    defaultValue: SITE_OPTIONS.maxAttempts.defaultValue,
  },
  {
    group: 'Service and sites',
    typed: '--latency <preset>',
    text: 'Delay messages between sites: none (default), eu-us (ireland, frankfurt, virginia), or round trips as ireland-frankfurt=20,…',
  },
  {
    group: 'One site of a cluster',
    typed: '--cluster <file>',
    text: 'Run one site of the deployment in this cluster.json; the others are other processes',
  },
  {
    group: 'One site of a cluster',
    typed: '--site <name>',
    text: 'Be this site of the cluster file',
  },
  {
    group: 'One site of a cluster',
    typed: '--rebuild',
    text: 'Replace a lost data directory of this site: begin empty, with the state of another site',
  },
  {
    group: 'One site of a cluster',
    typed: '--join',
    text: 'Add this site to a deployment that runs already: begin with the state of another site',
  },
  {
    group: 'Data',
    typed: '--data <dir>',
    text: `Store the data in this directory, created if it is missing (default: ${DEFAULT_DATA_DIR})`,
  },
  {
    group: 'Data',
    typed: '--ephemeral',
    text: 'Keep all state in memory: it is lost when the process ends',
  },
  {
    group: 'Data',
    typed: '--memory <size>',
    text: 'Take at most this much memory, as 512m or 4g (default: 80 % of the container, or half of the machine)',
  },
  {
    group: 'Data',
    typed: '--cache <size>',
    text: 'Keep rows in so much of that memory that are on the disk too (default: about a sixth of it, up to 256m a site)',
  },
  {
    group: 'Who may connect',
    typed: '--host <address>',
    text: `Listen on this address (default: ${LISTEN_OPTIONS.host.defaultValue}; in a cluster, that of a ws: url of the site)`,
  },
  {
    group: 'Who may connect',
    typed: '--port <n>',
    text: `Listen on this port; 0 is any free one (default: ${DEFAULT_PORT}; in a cluster, as for --host)`,
  },
  {
    group: 'Who may connect',
    typed: '--origins <list>',
    text: 'Accept web pages of these origins, separated by commas',
  },
  {
    group: 'Who may connect',
    typed: '--auth <module>',
    text: 'Load `authenticate`, and optionally `authorize` and `limits`, from this module',
  },
  {
    group: 'Who may connect',
    typed: '--auth-keys <keys>',
    text: 'Accept clients with a signed token (JWT): a file with a JWK set, or its https address',
  },
  {
    group: 'Who may connect',
    typed: '--auth-issuer <name>',
    text: 'Require this issuer (`iss`) of tokens',
  },
  {
    group: 'Who may connect',
    typed: '--auth-audience <name>',
    text: 'Require this audience (`aud`) of tokens',
  },
  {
    group: 'Who may connect',
    typed: '--operator-token-file <path>',
    text: 'Open /metrics and the details of /health to requests with the token in this file alone',
  },
  {
    group: 'Who may connect',
    typed: '--limits <pairs>',
    text: 'Limit each site, as maxMemoryBytes=1GiB,maxConnections=1000; none is no limit',
  },
  {
    group: 'Who may connect',
    typed: '--allow-unauthenticated',
    text: 'Listen on an address that others can reach without --auth or --auth-keys',
  },
  {
    group: 'Checks of the service',
    typed: '--check-invariants <when>',
    text: 'Raise an alarm if a row breaks an invariant of the service: on or off (default: on unless NODE_ENV is production)',
  },
  {
    group: 'Checks of the service',
    typed: '--skip-color-check',
    text: 'Start even if a shadow operation is declared blue and must not be',
  },
  {
    group: 'Output',
    typed: '--log-level <level>',
    text: 'Log from this level: debug, info, warn, error or silent',
    defaultValue: 'info',
  },
  {
    group: 'Output',
    typed: '--json',
    text: 'Print addresses, access, data and HTTP paths as one JSON line',
  },
];
