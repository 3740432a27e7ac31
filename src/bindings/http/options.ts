/** Options of the binding `http`, and their checks. */
import type { Levels } from '../../correctable/level-types.ts';
import {
  anyValue,
  callback,
  distinctNames,
  matches,
  oneOf,
  optional,
  required,
  trueOrFalse,
  type OptionsOf,
  type ResolvedOptions,
} from '../../correctable/options.ts';
import { isNonEmptyString } from '../../correctable/validate.ts';

/** Options of `http`. */
export interface HttpBindingOptions<L extends Levels = Levels> {
  /** Address of the handler, as `/api` or `https://shop.example/api`. */
  readonly url: string;
  /** The levels of the binding behind the handler, weakest first. */
  readonly levels: L;
  /**
   * How reads are sent. `GET` has the arguments in the address, so that a cache can key on it. A
   * longer address than 2 000 characters is sent with `POST`. Default: `GET`
   */
  readonly readMethod?: 'GET' | 'POST' | undefined;
  /** Returns headers for each request, for example with a token. Default: none */
  readonly headers?:
    | (() => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>)
    | undefined;
  /** Whether requests to other origins have cookies. Default: as `fetch` */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * Returns the name of the signed-in user, so that a cache in front keeps the views of each user
   * apart. Default: unknown
   */
  readonly principal?: (() => string) | undefined;
  /**
   * Whether the binding behind the handler keeps sessions that can travel. Default: `false`, so
   * that `session()` is refused
   */
  readonly hasSessions?: boolean | undefined;
  /** Sends the requests. Default: the `fetch` of the platform */
  readonly fetch?: typeof fetch | undefined;
}

export const CALL = "http(contract, { url: '/api', levels: ['replica', 'primary'] })";

export const HTTP_OPTIONS = {
  url: required(
    matches(
      (value) => isNonEmptyString(value) && !/[?#]/.test(value),
      "must be an address without ? and #, as '/api'.",
    ),
  ),
  levels: required(distinctNames("['replica', 'primary']")),
  readMethod: optional<'GET' | 'POST'>(oneOf('GET', 'POST'), 'GET'),
  headers: optional(callback),
  credentials: optional(anyValue),
  principal: optional(callback),
  hasSessions: optional(trueOrFalse, false),
  fetch: optional(callback),
} satisfies OptionsOf<HttpBindingOptions>;

export type ResolvedHttpOptions<L extends Levels> = ResolvedOptions<
  HttpBindingOptions<L>,
  typeof HTTP_OPTIONS
>;
