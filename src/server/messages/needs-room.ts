/** Which messages lead to something that has to be written down: without room they are not taken, and sent again later. */
import { isLogMessage } from '../log/red-log.ts';
import type { LogMessageFormat } from '../log/red-log-engine.ts';
import type { Envelope } from './envelope.ts';

/** Whether what a message leads to has to be written down. */
export function needsRoom(message: Envelope['message'], log: LogMessageFormat): boolean {
  if (isLogMessage(message)) return log.needsRoom(message);
  switch (message.kind) {
    case 'blue.operations':
    case 'slot.request':
    case 'slot.answered':
    case 'rights.request':
      return true;
    case 'blue.have':
    case 'blue.heartbeat':
    case 'blue.received':
    case 'blue.resend':
    case 'blue.gone':
    case 'member.closed':
    case 'term.superseded':
    case 'node.hello':
    case 'node.fork':
      return false;
  }
}
