/** Values as short text for people, in the notation of the language. */
import { toJsonValue } from '../../../protocol/codec/json-values.ts';

/** As they are sent in JSON (docs/protocol.md); what no client could send, which an author drew, as text for people. */
export function writtenArgs(args: unknown): unknown {
  if (args === undefined) return undefined;
  try {
    return toJsonValue(args);
  } catch {
    return shown(args);
  }
}

const LENGTH_MAX = 200;

/** The value, cut where it is long. */
export function shown(value: unknown): string {
  const text = textOf(value);
  return text.length <= LENGTH_MAX ? text : `${text.slice(0, LENGTH_MAX)}…`;
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return `[${value.map(textOf).join(', ')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (value instanceof Set || value instanceof Map) return `new ${value.constructor.name}(${textOf([...value])})`;
  const parts = Object.entries(value).map(([name, each]) => `${named(name)}: ${textOf(each)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

/** The fields of a row: `balance is -1, owner is 'a'`. */
export function shownFields(row: Readonly<Record<string, unknown>>): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} is ${shown(value)}`)
    .join(', ');
}

function quoted(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function named(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name);
}
