/** Where the gateway reports to. A `pino` logger is one. */
import { ignoreRejection } from '../operations/call-hook.ts';

/** A structured logger. It never receives the arguments of operations. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};

/** Reports nothing. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};

/**
 * The same logger, whose failures go unheard: there is nowhere left to report
 * them to.
 */
export function guardLogger(value: Logger): Logger {
  const guarded = (level: keyof Logger): Logger[keyof Logger] => {
    return (fields, message) => {
      try {
        ignoreRejection(value[level](fields, message));
      } catch {
        // What was to be reported matters more than that it could not be.
      }
    };
  };
  return {
    debug: guarded('debug'),
    info: guarded('info'),
    warn: guarded('warn'),
    error: guarded('error'),
  };
}
