/** The state of a read or a write that a component gets. */
import type { CorrectableError } from '../correctable/errors.ts';
import type { AnyView } from '../correctable/view.ts';

/** The state of a request beside its view. */
export interface RequestStatus {
  /** Whether a stronger view was requested, or will be requested once the component is mounted. */
  readonly isRequesting: boolean;
  readonly error: CorrectableError | undefined;
}

export type Fields = Readonly<Record<string, unknown>>;

export const IDLE: RequestStatus = { isRequesting: false, error: undefined };

export function getFields(
  view: AnyView | undefined,
  { isRequesting, error }: RequestStatus,
): Fields {
  const final = !!view?.final;
  return {
    view,
    value: view?.value,
    level: view?.level,
    final,
    confirmed: final && view.confirms,
    corrected: final && !view.confirms && view.seq > 0,
    pending: isRequesting,
    error,
  };
}
