/** Saves the operations that only a retired site had. An operator may want to repeat them. */
import type { ReplacingFiles } from '../storage/disk/files.ts';
import { isRecord } from '../../../correctable/validate.ts';
import type { Origin, StreamEnd } from '../../service/records/origin.ts';
import { encodeValue } from '../storage/format/value-text.ts';

interface UnsentOperation {
  readonly sequence: number;
}

/** The facts and functions that show which operations another site has. */
export interface UnsentOptions {
  readonly files: ReplacingFiles;
  readonly origin: Origin;
  readonly peers: readonly string[];
  /** Asks a peer for its status. */
  request(peer: string): Promise<unknown>;
  readonly signal: AbortSignal;
  readonly maxWaitMs?: number;
}

const UNSENT_FILE = 'unsent-operations.json';
const RETRY_MS = 200;
/** The other sites know the end of the stream once all of them have confirmed that it is closed. */
const MAX_WAIT_MS = 5000;

const NOTES = {
  certain: 'No other site has these operations.',
  uncertain:
    'No other site has confirmed these operations to this one, and no site answered what it has of them. Look whether they are missing before you repeat them.',
} as const;

/**
 * Writes the operations that no other site has to a file, after asking the other sites. Returns
 * what to report, if anything.
 */
export async function saveUnsent(
  unsent: readonly UnsentOperation[],
  options: UnsentOptions,
): Promise<string> {
  const { files } = options;
  if (unsent.length === 0) return '';
  const write = (note: string, operations: readonly UnsentOperation[]): void =>
    files.replace(UNSENT_FILE, Buffer.from(`${formatUnsent({ note, operations })}\n`));
  // Write this note before asking the other sites, because the process may end at any time.
  write(NOTES.uncertain, unsent);
  const final = await findEnd(options);
  if (final === undefined)
    return ` Operations that no other site is known to have: ${unsent.length}, see ${UNSENT_FILE}.`;
  const lost = unsent.filter(({ sequence }) => sequence > final.sequence);
  if (lost.length > 0) {
    write(NOTES.certain, lost);
    return ` Operations that no other site has: ${lost.length}, see ${UNSENT_FILE}.`;
  }
  files.removeNow(UNSENT_FILE);
  return ' All its operations are at another site.';
}

/** Values of the application may be bytes, dates and bigints. */
function formatUnsent(content: object): string {
  return JSON.stringify(JSON.parse(encodeValue(content)), null, 2);
}

/**
 * Returns the end of this site's stream as another site knows it; `undefined` if none reports it in
 * time.
 */
async function findEnd(options: UnsentOptions): Promise<StreamEnd | undefined> {
  const { peers, origin, request, signal, maxWaitMs = MAX_WAIT_MS } = options;
  const untilMs = performance.now() + maxWaitMs;
  while (!signal.aborted && performance.now() < untilMs) {
    const replies = await Promise.all(peers.map((peer) => request(peer).catch(() => undefined)));
    const final = replies.map((reply) => getEnd(reply, origin)).find((end) => end !== undefined);
    if (final !== undefined && !signal.aborted) return final;
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
  return undefined;
}

function getEnd(status: unknown, own: Origin): StreamEnd | undefined {
  const members: unknown = isRecord(status) ? status['members'] : undefined;
  const member: unknown = Array.isArray(members)
    ? members.find((item) => isRecord(item) && item['origin'] === own)
    : undefined;
  const final = isRecord(member) ? member['final'] : undefined;
  return isRecord(final) && Number.isSafeInteger(final['sequence'])
    ? (final as unknown as StreamEnd)
    : undefined;
}
