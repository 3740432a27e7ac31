/** What a simulated site expects of messages, and of servers of its red logs. */
import type { RejectedMessageError } from '../../server/site/wire/envelope.ts';
import type { ServerReply } from '../../server/log/red-log.ts';
import type { Site } from '../../server/site/site.ts';
import { PropertyViolation } from './checkers/checker.ts';
import type { ServerConnection } from './etcd/simulated-etcd.ts';

/** Connects each red log of a start to its server, if a server keeps them. */
export function connectLogs(
  { redLogs }: Site,
  connect: ((reply: (reply: ServerReply) => void) => ServerConnection) | undefined,
  onReply: (reply: ServerReply, partition: number) => void,
): readonly ServerConnection[] {
  if (connect === undefined) return [];
  return redLogs.lanes.all.map(({ partition }) => connect((reply) => onReply(reply, partition)));
}

/** Every message must be accepted, except those that a restart has made late. */
export function failOnRejection({ message }: RejectedMessageError): never {
  throw new PropertyViolation(`a message was refused: ${message}`, 'messages');
}

/**
 * Returns the number of correct messages that were not accepted because they were late, too early,
 * or without room.
 */
export function countHarmless({ rejections: { term, start, origin, room } }: Site): number {
  return term + start + origin + room;
}
