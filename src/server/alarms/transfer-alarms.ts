/** Reports that a site cannot get or write the state of another one. */
import { isNoSpace } from '../storage/disk/files.ts';
import { createAlarmRaiser, type OnAlarm } from './site-alarm.ts';

export interface TransferAlarms {
  onStalled(problem: string): void;
  onFullChanged(because: Error | undefined): void;
  onRefused(problems: ReadonlyMap<string, string>): void;
}

export function createTransferAlarms(site: string, onAlarm: OnAlarm): TransferAlarms {
  const raise = createAlarmRaiser(site, onAlarm);
  return {
    onStalled: (problem) =>
      raise(
        'transfer-stalled',
        `it needs the state of another site, and nothing of it comes (${problem}). It goes on trying.`,
      ),
    onRefused: (problems) => {
      const reasons = [...problems].map(([donor, problem]) => `${donor}: ${problem}`).join(' ');
      const advice = `To end this, run "correctables cluster retire --site ${site}", then start ${site} with --rebuild`;
      raise(
        'transfer-refused',
        `it needs the state of another site, but each of them lacks operations that this one has. ${reasons} It goes on trying. ${advice}. The operations that no other site has are in unsent-operations.json then.`,
      );
    },
    onFullChanged: (because) => {
      if (because === undefined) raise('disk-has-room', 'the state of another site can be written again.');
      else {
        const reason = isNoSpace(because) ? 'the disk is full' : because.message;
        raise('disk-full', `the state of another site cannot be written (${reason}). It is tried again.`);
      }
    },
  };
}
