/** Runs seeds of the simulator in a web worker, so that the page stays responsive. */
import { Buffer } from 'buffer/';
import { recordRun } from '../../test/simulator/recorder/record-run.ts';
import type { RecordedRun } from '../../test/simulator/recorder/recorded-run.ts';
import { INJECTED_BUGS } from '../../test/simulator/injected-bugs.ts';
import type { RunRequest } from './examples.ts';

/** `rule`: the one that the planted fault breaks. */
export type WorkerReply =
  | { readonly run: RecordedRun; readonly rule: string | undefined; readonly error?: never }
  | { readonly error: string };

// The storage of sites uses the one of Node.
Object.assign(globalThis, { Buffer });

globalThis.addEventListener('message', ({ data }: MessageEvent<RunRequest>) => {
  globalThis.postMessage(answer(data));
});

function answer({ seed, profile, fault }: RunRequest): WorkerReply {
  try {
    const planted = fault === undefined ? undefined : INJECTED_BUGS[fault];
    return { run: recordRun(seed, planted?.profile ?? profile, { planted }), rule: planted?.rule };
  } catch (error) {
    return { error: String(error) };
  }
}
