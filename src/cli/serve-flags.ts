/** The flags of `correctables serve`. */
import type { Flag } from './command.ts';

/** Where data is kept unless it is said. */
export const DATA_DIR = 'correctables-data';

export const SERVE_FLAGS: readonly Flag[] = [
  ['--service <module>', 'The service: a module that exports `service` (or a default) made by defineService'],
  ['--sites <names>', 'The sites, separated by commas', 'irl,frk,vrg'],
  ['--red-leader <site>', 'The site that orders red operations (default: the first)'],
  ['--attempts-max <count>', 'Executions of a red update that others keep overtaking, before CONFLICT', 10],
  ['--wan <preset>', 'Delays between the sites: none, paper (for irl, frk, vrg), or pairs as irl-frk=20,…', 'none'],
  ['--data <dir>', `Folder for what must not be lost, made if there is none (default: ${DATA_DIR})`],
  ['--ephemeral', 'Keep everything in memory: it is gone with the process'],
  ['--host <address>', 'Address to listen on', '127.0.0.1'],
  ['--port <n>', 'Port to listen on; 0 for any free one', 7420],
  ['--origins <list>', 'Origins of web pages that may connect, separated by commas'],
  ['--auth <module>', 'Who may connect and do what: exports `authenticate`, and `authorise` and `limits` if you like'],
  ['--auth-keys <keys>', 'Let in who has a signed token (JWT): a file with a JWK set, or its https address'],
  ['--auth-issuer <name>', 'Who must have made the token (`iss`)'],
  ['--auth-audience <name>', 'For whom it must be (`aud`)'],
  ['--limits <pairs>', 'Bounds of each site, as repliesBytesTotalMax=512MiB,connectionsMax=1000; none for none'],
  ['--allow-unauthenticated', 'Listen also where others can reach it, although everybody is let in'],
  ['--idle-poll-us <us>', 'Stay awake so long after an answer: shorter round trips for processor time', 0],
  [
    '--check-invariants <when>',
    'Alarms where rows break what the service says of them: on or off (default: on unless NODE_ENV is production)',
  ],
  ['--force', 'Serve a service though a shadow operation of it is declared blue and must not be'],
  ['--log-level <level>', 'debug, info, warn, error or silent', 'info'],
  ['--json', 'Print what is laid open as one JSON line: addresses, who may connect, data, HTTP'],
];
