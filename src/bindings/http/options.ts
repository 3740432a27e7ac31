/** Options of the binding `http`, and their checks. */
import { check } from '../../correctable/errors.ts';
import type { Levels } from '../../correctable/level-types.ts';
import {
  checkOptionNames,
  checkOptionTypes,
  isNonEmptyString,
  type OptionNamesOf,
} from '../../correctable/validate.ts';

/** Options of `http`. */
export interface HttpBindingOptions<L extends Levels = Levels> {
  /** Address of the handler, as `/api` or `https://shop.example/api`. */
  readonly url: string;
  /** The levels of the binding behind the handler, weakest first. */
  readonly levels: L;
  /**
   * How reads are sent. `GET` has the arguments in the address, so that a cache
   * can key on it. A longer address than 2 000 characters is sent with `POST`.
   * Default: `GET`
   */
  readonly readMethod?: 'GET' | 'POST' | undefined;
  /**
   * Returns headers for each request, for example with a token. Default: none
   */
  readonly headers?:
    | (() =>
        | Readonly<Record<string, string>>
        | Promise<Readonly<Record<string, string>>>)
    | undefined;
  /** Whether requests to other origins have cookies. Default: as `fetch` */
  readonly credentials?: RequestCredentials | undefined;
  /**
   * Returns the name of the signed-in user, so that a cache in front keeps the
   * views of each user apart. Default: unknown
   */
  readonly principal?: (() => string) | undefined;
  /**
   * Whether the binding behind the handler keeps sessions that can travel.
   * Default: `false`, so that `session()` is refused
   */
  readonly hasSessions?: boolean | undefined;
  /** Sends the requests. Default: the `fetch` of the platform */
  readonly fetch?: typeof fetch | undefined;
}

export const CALL =
  "http(contract, { url: '/api', levels: ['replica', 'primary'] })";

const OPTIONS: OptionNamesOf<HttpBindingOptions> = {
  url: true,
  levels: true,
  readMethod: true,
  headers: true,
  credentials: true,
  principal: true,
  hasSessions: true,
  fetch: true,
};

/**
 * @throws CorrectableError `INVALID_ARGUMENT` naming the option that does not
 * fit
 */
export function checkHttpOptions(options: HttpBindingOptions): void {
  checkOptionNames(options, { call: CALL }, OPTIONS);
  checkOptionTypes(options, 'function', 'headers', 'principal', 'fetch');
  checkOptionTypes(options, 'boolean', 'hasSessions');
  const { url, levels, readMethod = 'GET' } = options;
  const isAddress = isNonEmptyString(url) && !/[?#]/.test(url);
  check(isAddress, 'url', "must be an address without ? and #, as '/api'.");
  const areNames =
    Array.isArray(levels) &&
    levels.length > 0 &&
    levels.every(isNonEmptyString) &&
    new Set(levels).size === levels.length;
  check(areNames, 'levels', 'must be different names, weakest first.');
  const isMethod = readMethod === 'GET' || readMethod === 'POST';
  check(isMethod, 'readMethod', "must be 'GET' or 'POST'.");
}
