/** Arguments in JSON, for programs. */
import { toJsonValue } from '../../../protocol/codec/json-values.ts';
import { shown } from './shown.ts';

/** As they are sent in JSON (docs/protocol.md); what no client could send, which an author drew, as text for people. */
export function writtenArgs(args: unknown): unknown {
  if (args === undefined) return undefined;
  try {
    return toJsonValue(args);
  } catch {
    return shown(args);
  }
}
