/** What the red path needs from the rest of its replica. */
import type { ActivateRecord, MemberRecord } from '../../records/records.ts';
import type { ReplyOrError } from '../../records/reply.ts';
import type { Stage, Submission } from '../../records/submissions.ts';
import type { ReplicaCore } from '../core/replica-port.ts';

export interface RedPathHost {
  readonly core: ReplicaCore;
  reply(submission: Submission, stage: Stage, answer: ReplyOrError): void;
  /** A record of the red log about members, at `place`, from 1 on. */
  onMemberRecord(record: MemberRecord, place: number): void;
  /** A record of the red log about the version that is in force. */
  onActivateRecord(record: ActivateRecord): void;
  /** Own blue operations: the last one applied, and the last one that would survive the loss of this site. */
  ownBlueProgress(): { readonly applied: number; readonly durable: number };
}
