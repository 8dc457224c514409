/** Names that a log may hold because the program chose them, or somebody who sent it a request. */
export const HOSTILE_NAMES: readonly string[] = [
  '</script><script>alert(1)</script>',
  '<!--<script>',
  ']]></style><img src=x onerror=alert(1)>',
  '"\'><svg onload=alert(1)>',
  '&lt;b&gt; &amp;',
  'line\u2028and\u2029paragraph',
  'control\u0000\u0007\u001b[2Jcharacters\r\n',
  'half \ud800 surrogate',
  '\udc00 other half',
  'reversed \u202egnp.exe',
  '__proto__',
  'constructor',
  '`template`',
  'x'.repeat(5000),
];
