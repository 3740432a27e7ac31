/**
 * How an operation of a contract travels in an HTTP request: its name is the last segment of the
 * path. The arguments are JSON, in the body or in the query parameter `args`. What JSON lacks is
 * written as in `json-values.ts`.
 */
import { CorrectableError } from '../correctable/errors.ts';
import { fromJsonValue, toJsonField } from '../protocol/codec/json-values.ts';

/** Names the requested levels, separated by commas. Absent: all levels. */
export const LEVELS_HEADER = 'correctables-levels';
/** Names an update across requests, so that the store executes it once. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';

/** A text that a header has unchanged. The space would be cut at its ends. */
const HEADER_TEXT = /^[!-$&-~](?:[ -$&-~]*[!-$&-~])?$/;

/**
 * Returns the value of the header for an idempotency key. A header has no letters beyond ASCII. Two
 * keys never have the same value.
 */
export function formatIdempotencyKey(key: string): string {
  return HEADER_TEXT.test(key) ? key : encodeURIComponent(key);
}

/** The query parameter with the arguments of a read. */
const ARGS_PARAMETER = 'args';

export function encodeArgs(args: unknown): string {
  // JSON has no form for `undefined`.
  return JSON.stringify(toJsonField(args ?? null, 'args'));
}

/** Returns the address of an operation, with the arguments of a read. */
export function formatOperationUrl(baseUrl: string, name: string, args?: string): string {
  const path = `${baseUrl.replace(/\/+$/, '')}/${encodeURIComponent(name)}`;
  return args === undefined ? path : `${path}?${ARGS_PARAMETER}=${encodeURIComponent(args)}`;
}

/** The parts of the address of an operation. */
export interface OperationAddress {
  readonly name: string;
  /** The arguments as JSON. `undefined` if the query has none. */
  readonly args: string | undefined;
}

/**
 * Returns the name of the operation, and the arguments if the query has them. Splits the text
 * itself, because `URL` throws for some texts that a client may send.
 */
export function parseOperationUrl(url: string): OperationAddress {
  const [path = '', query = ''] = (url.split('#')[0] ?? '').split(/\?(.*)/s);
  const segment = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return {
    name: decodeSegment(segment),
    args: new URLSearchParams(query).get(ARGS_PARAMETER) ?? undefined,
  };
}

/**
 * Returns the arguments that `text` contains.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if it is no JSON of this package
 */
export function parseArgsText(text: string): unknown {
  return readArgs(() => JSON.parse(text) as unknown);
}

/**
 * Returns the arguments of a body that was parsed as JSON already.
 *
 * @throws CorrectableError `INVALID_ARGUMENT` if it is no JSON of this package
 */
export function decodeArgs(json: unknown): unknown {
  return readArgs(() => json);
}

function readArgs(readJson: () => unknown): unknown {
  try {
    return fromJsonValue(readJson());
  } catch (cause) {
    const message = 'args must be the arguments of the operation as JSON.';
    throw new CorrectableError('INVALID_ARGUMENT', message, {
      field: 'args',
      cause,
    });
  }
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
