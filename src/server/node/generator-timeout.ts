/**
 * Stops a generator that neither returns nor reads. No budget inside of the generator can do that.
 */
import { Script } from 'node:vm';
import { createInternalError } from '../service/records/internal-errors.ts';

const GLOBAL_NAME = '__correctablesGuarded';
const script = new Script(`globalThis[${JSON.stringify(GLOBAL_NAME)}]()`);

/**
 * Calls `run` and stops it after `timeoutMs`. It costs about 0.1 ms a call, so it is for
 * development and for services whose code is not trusted to end.
 *
 * @throws CorrectableError `FINAL_FAILED` when it was stopped; else what `run` throws.
 */
export function runWithTimeout(run: () => unknown, timeMaxMs: number): unknown {
  Object.defineProperty(globalThis, GLOBAL_NAME, {
    value: run,
    configurable: true,
  });
  try {
    return script.runInThisContext({
      timeout: Math.max(1, Math.ceil(timeMaxMs)),
    });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    const message = `A generator ran for more than ${timeMaxMs} ms and was stopped. Nothing was changed: let it do less.`;
    throw createInternalError('FINAL_FAILED', message, 'generators');
  } finally {
    Reflect.deleteProperty(globalThis, GLOBAL_NAME);
  }
}
