/** Reads the data in the page and draws its sections. */
import type { ReportData } from '../data';
import { html } from './dom';
import { findingsSection, pageHead } from './head';
import { leaksSection } from './leaks';
import { requestsSection } from './requests';
import { areasSection, callbacksSection, operationsSection } from './tables';
import { timelinesSection } from './timelines';
import { treeSection } from './tree';

const report = JSON.parse(document.getElementById('data')?.textContent ?? '') as ReportData;
const top = pageHead(report);
const sections: [string, HTMLElement][] = [
  ['Findings', findingsSection(report)],
  ['Event loop', timelinesSection(report)],
  ['Operations', operationsSection(report)],
  ['Areas', areasSection(report)],
  ['Callbacks', callbacksSection(report)],
  ['Tree', treeSection(report)],
  ['Requests', requestsSection(report)],
  ['Leaks', leaksSection(report)],
];
const links = sections.map(([name, element]) => {
  element.id = name.toLowerCase().replaceAll(' ', '-');
  return html('a', { href: `#${element.id}` }, name);
});
top.append(html('nav', { 'aria-label': 'Sections' }, ...links));
document.getElementById('report')?.append(top, ...sections.map(([, element]) => element));
