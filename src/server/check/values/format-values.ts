/** Formats values as short text in the notation of the language. */
import { toJsonValue } from '../../../protocol/codec/json-values.ts';

/**
 * Returns arguments as sent in JSON (docs/reference/wire-protocol.md), or as text if no client
 * could send them.
 */
export function serializeArgs(args: unknown): unknown {
  if (args === undefined) return undefined;
  try {
    return toJsonValue(args);
  } catch {
    return formatValue(args);
  }
}

const MAX_TEXT_LENGTH = 200;

/** Formats a value, and cuts it if it is long. */
export function formatValue(value: unknown): string {
  const text = toText(value);
  return text.length <= MAX_TEXT_LENGTH ? text : `${text.slice(0, MAX_TEXT_LENGTH)}…`;
}

function toText(value: unknown): string {
  if (typeof value === 'string') return quoteText(value);
  if (Array.isArray(value)) return `[${value.map(toText).join(', ')}]`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (value instanceof Uint8Array) return `<${value.length} bytes>`;
  if (value instanceof Set || value instanceof Map)
    return `new ${value.constructor.name}(${toText([...value])})`;
  const parts = Object.entries(value).map(([name, item]) => `${formatName(name)}: ${toText(item)}`);
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}

/** Formats the fields of a row: `balance is -1, owner is 'a'`. */
export function formatFields(row: Readonly<Record<string, unknown>>): string {
  return Object.entries(row)
    .map(([name, value]) => `${name} is ${formatValue(value)}`)
    .join(', ');
}

function quoteText(text: string): string {
  return `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")}'`;
}

function formatName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quoteText(name);
}
