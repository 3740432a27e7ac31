/** Sequential creates. Whether a server gives preliminary replies is learnt from the first one. */
import type { SessionPair } from '../session-pair.ts';
import { parseSequenceNumber } from '../paths.ts';

export interface SequentialCreate {
  readonly data: Uint8Array | null;
  /** Hears of the number that the node should get; not called by servers without preliminary replies. */
  readonly onPreliminary: ((number: number) => void) | undefined;
}

export async function createSequential(
  sessions: SessionPair,
  path: string,
  { data, onPreliminary }: SequentialCreate,
): Promise<string> {
  const mode = 'persistent-sequential';
  if (onPreliminary === undefined || sessions.hasPreliminaryReplies === false) {
    return sessions.writer.create(path, data, { mode });
  }
  const { writer } = sessions;
  const { server } = writer;
  let isGiven = false;
  const made = await writer.create(path, data, {
    mode,
    onPreliminary(name) {
      isGiven = true;
      onPreliminary(parseSequenceNumber(name));
    },
  });
  if (server !== undefined && writer.server === server) sessions.hasPreliminaryReplies = isGiven;
  return made;
}
