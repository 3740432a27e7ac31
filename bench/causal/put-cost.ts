/**
 * Computes the server time of one put on this machine: that of the partitions' code, and that of
 * the messages.
 */
import { dropSlowest } from './calibration.ts';
import { runClosedLoop, type LoopOptions } from './systems/closed-loop.ts';
import { groupBy } from '../harness/group-by.ts';
import type { Execution } from './systems/queueing-network.ts';

export interface PutCost {
  /** The measured time of the code in this run, plus the service times of the messages. */
  readonly us: number;
  readonly messages: number;
  readonly bytes: number;
}

export function measurePutCost(options: LoopOptions): PutCost {
  const executions: Execution[] = [];
  const { costs, puts } = runClosedLoop({
    ...options,
    onExecution: (execution) => {
      if (execution.purpose === 'put') executions.push(execution);
    },
  });
  const codeUs = groupBy(executions, ({ kind }) => kind).reduce((sum, group) => {
    const usual = dropSlowest(group);
    return sum + (usual.reduce((total, { us }) => total + us, 0) / usual.length) * group.length;
  }, 0);
  const { messages, bytes, messageUs } = costs.put;
  return { us: codeUs / puts + messageUs, messages, bytes };
}
