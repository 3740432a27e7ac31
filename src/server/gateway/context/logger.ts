/** The logger of a gateway, for example one of `pino`. */
import { ignoreRejection } from '../operations/call-hook.ts';

/** A structured logger. It never receives the arguments of operations. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

const ignore = (): void => {};

/** Logs nothing. */
export const silentLogger: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
};

/**
 * Returns a logger that ignores the failures of `value`, because there is no other place to report
 * them.
 */
export function guardLogger(value: Logger): Logger {
  const guarded = (level: keyof Logger): Logger[keyof Logger] => {
    return (fields, message) => {
      try {
        ignoreRejection(value[level](fields, message));
      } catch {
        // The caller's own work matters more than a lost log message.
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
