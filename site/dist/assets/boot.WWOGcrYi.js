globalThis.docsBase = new URL('..', document.currentScript.src).pathname;
if (/^#(tag|description|model|api)[/-]/.test(location.hash) && /\/(index\.html)?$/.test(location.pathname)) location.replace('reference/' + location.hash);
(()=>{const e=localStorage.getItem("vitepress-theme-appearance")||"auto",a=window.matchMedia("(prefers-color-scheme: dark)").matches;(!e||e==="auto"?a:e==="dark")&&document.documentElement.classList.add("dark")})();
document.documentElement.classList.toggle("mac",/Mac|iPhone|iPod|iPad/i.test(navigator.platform));
addEventListener('DOMContentLoaded', () => {
  for (const link of document.querySelectorAll('a[href]:not([href^="#"])')) link.setAttribute('href', link.href);
});