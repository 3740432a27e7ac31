/** The page of the social network: a user of each region, and the red logs of both. */
import { byId, setText } from '../../shared/page/dom.ts';
import { createDeskView } from './desk-view.ts';
import { createLogsView } from './logs-view.ts';
import { PageState } from './page-state.ts';
import { formatMeeting, formatPhase } from './texts.ts';

const FAILURE =
  'The social network does not answer. Start it with “npm run demo”: this page then goes on by itself.';

let isDue = false;
const state = new PageState(() => {
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(show);
});
const showDesks = state.desks.map(createDeskView);
const showLogs = createLogsView(state);
const [meet, work] = [byId('meet', HTMLButtonElement), byId('work', HTMLButtonElement)];

meet.addEventListener('click', () => {
  if (state.canMeet) void state.meet();
});
work.addEventListener('click', () => (state.isWorking ? state.stop() : state.work()));
show();
byId('network', HTMLElement).hidden = false;
byId('footer', HTMLElement).hidden = false;
await state.watch();

function show(): void {
  isDue = false;
  const { phase, isWorking } = state;
  const status = byId('status', HTMLParagraphElement);
  status.dataset['phase'] = phase;
  setText(status, formatPhase(phase));
  const failure = byId('failure', HTMLParagraphElement);
  failure.hidden = phase !== 'failed';
  setText(failure, phase === 'failed' ? FAILURE : '');
  meet.setAttribute('aria-disabled', String(!state.canMeet));
  if (state.canMeet) setText(meet, formatMeeting(state.meeting));
  setText(work, isWorking ? 'Stop' : 'Let both users work');
  for (const showDesk of showDesks) showDesk();
  showLogs();
}
