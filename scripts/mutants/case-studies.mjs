/** Of the services of the case studies: what their shadow operations do, and when (docs/case-studies.md). */
import { unit } from './commands.mjs';

/**
 * @type {(study: string, file: string) =>
 *   (name: string, parts: { line: string, replacement: string }) => import('./listed.mjs').Mutant}
 */
const ofStudy =
  (study, file) =>
  (name, { line, replacement }) => ({
    name: `${study}: ${name}`,
    rule: 'case-studies',
    file: `demo/case-studies/${study}/${file}.ts`,
    line,
    replacement,
    // Tests that wait for what does not come would wait for a minute each.
    command: [...unit(`demo/case-studies/${study}-service.test.ts`), '--bail=1'],
  });

const tpcwEffect = ofStudy('tpcw', 'shadows');
const tpcwPurchase = ofStudy('tpcw', 'buy');
const rubisEffect = ofStudy('rubis', 'shadows');
const rubisUpdate = ofStudy('rubis', 'updates');
const rubisPage = ofStudy('rubis', 'browse');
const rubisForm = ofStudy('rubis', 'forms');
const quoddyEffect = ofStudy('quoddy', 'shadows');
const quoddyUpdate = ofStudy('quoddy', 'updates');

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const CASE_STUDY_MUTANTS = [
  tpcwEffect('a purchase adds to the stock', {
    line: 'items.row(item).stock.add(change)',
    replacement: 'items.row(item).stock.add(-change)',
  }),
  tpcwEffect('a purchase leaves the cart as it is', {
    line: '...lines.map(({ item }) => cartLines.remove(lineKey(cart, item))),',
    replacement: '',
  }),
  tpcwEffect('an order is not in the history of its customer', {
    line: 'orders.row(order).history.write(joined(customer, orderedText(at))),',
    replacement: '',
  }),
  tpcwEffect('taking from the stock is blue', {
    line: 'doBuyConfirmDecre: red(buy),',
    replacement: 'doBuyConfirmDecre: blue(buy),',
  }),
  tpcwEffect('what is taken out of a cart stays in it', {
    line: '...change.gone.map((item) => cartLines.remove(lineKey(change.cart, item))),',
    replacement: '',
  }),
  tpcwEffect('a customer has no name', {
    line: 'customers.row(customer).uname.write(uname),',
    replacement: '',
  }),
  tpcwEffect('a book with another date stands where it stood', {
    line: 'items.row(item).newness.write(newness),',
    replacement: '',
  }),
  tpcwPurchase('the stock is filled up only once there is none', {
    line: 'if (left >= STOCK_MIN) return -quantity;',
    replacement: 'if (left >= 0) return -quantity;',
  }),
  tpcwPurchase('more is sold than can be filled up', {
    line: 'return delta > 0 ? delta : undefined;',
    replacement: 'return delta;',
  }),
  rubisEffect('a piece that is bought is there twice', {
    line: 'item.stock.add(-purchase.quantity),',
    replacement: 'item.stock.add(purchase.quantity),',
  }),
  rubisEffect('a piece that is bought is not counted', {
    line: 'item.bought.add(purchase.quantity),',
    replacement: '',
  }),
  rubisEffect('the last piece does not end the sale', {
    line: '...(isLast ? [item.endsAt.write(purchase.at)] : []),',
    replacement: '',
  }),
  rubisEffect('a comment lowers what it should raise', {
    line: 'users.row(a.comment.user).rating.add(a.comment.rating)',
    replacement: 'users.row(a.comment.user).rating.add(-a.comment.rating)',
  }),
  rubisEffect('a nickname stays free', {
    line: 'nicknames.row(profile.nickname).taken.add(1),',
    replacement: '',
  }),
  rubisEffect('a bid counts twice', {
    line: 'items.row(bid.item).bids.add(1)',
    replacement: 'items.row(bid.item).bids.add(2)',
  }),
  rubisEffect('an item to buy has no stock', {
    line: 'items.row(a.item).stock.add(a.about.quantity)',
    replacement: 'items.row(a.item).stock.add(0)',
  }),
  rubisUpdate('more pieces are sold than there are', {
    line: 'stock < asked.quantity)',
    replacement: 'stock < 1)',
  }),
  rubisUpdate('a bid below the price is taken', {
    line: ' && asked.bid >= about.initialPrice',
    replacement: '',
  }),
  quoddyEffect('friendship is of one side', {
    line: 'users.row(other).friends.add(user),',
    replacement: '',
  }),
  quoddyEffect('who was confirmed still asks', {
    line: 'users.row(user).requests.remove(other),',
    replacement: '',
  }),
  quoddyEffect('who asks is asked', {
    line: 'users.row(other).requests.add(user)',
    replacement: 'users.row(user).requests.add(other)',
  }),
  quoddyEffect('what was said is not shown', {
    line: 'users.row(user).status.write(key),',
    replacement: '',
  }),
  rubisUpdate('what is left of a sale that has ended is sold', {
    line: 'if (endsAt <= now || stock',
    replacement: 'if (stock',
  }),
  rubisPage('the oldest bids come first', {
    line: 'toSorted((a, b) => b.at - a.at)',
    replacement: 'toSorted((a, b) => a.at - b.at)',
  }),
  rubisForm('who has bid has won', {
    line: 'own === highestOf(tables, item) ? item : []',
    replacement: 'own > 0 ? item : []',
  }),
  quoddyUpdate('a friend asks to be a friend', {
    line: 'if (user === other || tables.users.row(user).friends.has(other)) return null;',
    replacement: 'if (user === other) return null;',
  }),
];
