export const more = {
  'Row of videos': 'Videoreihe',
  Select: 'Auswahl',
  Changed: 'Geändert',
  archived: 'archiviert',
  hidden: 'verborgen',
  any: 'alle',
  'In the feed from': 'Im Feed ab',
  'In the feed until': 'Im Feed bis',
  'Article URL': 'Adresse des Artikels',
  'Seconds between images': 'Sekunden zwischen Bildern',
  Protected: 'Geschützt',
  Segment: 'Segment',
  Generated: 'Erzeugt',
  'Events of the service, sent to your systems as they happen.':
    'Ereignisse des Dienstes, sofort an Ihre Systeme gesendet.',
  'New webhook': 'Neuer Webhook',
  'No webhooks yet. “New webhook” creates one; this shows events on your own machine:':
    'Noch kein Webhook. „Neuer Webhook“ erstellt einen; dies zeigt Ereignisse auf Ihrem Rechner:',
  'Public keys are for apps and pages, secret keys for servers.':
    'Öffentliche Schlüssel sind für Apps und Seiten, geheime für Server.',
  'New key': 'Neuer Schlüssel',
  'New alert': 'Neue Warnung',
  'No alerts yet. “New alert” creates one, after a test on the last 14 days.':
    'Noch keine Warnung. „Neue Warnung“ erstellt eine und probiert sie zuerst an den letzten 14 Tagen.',
  'New metric': 'Neue Kennzahl',
  'Events, items and results as files, once, every day, or pushed to your own bucket.':
    'Ereignisse, Inhalte und Ergebnisse als Dateien, einmal, täglich oder in Ihren eigenen Bucket.',
  'New export': 'Neuer Export',
  'No exports yet. “New export” creates one.': 'Noch kein Export. „Neuer Export“ erstellt einen.',
  'New setting': 'Neue Einstellung',
  'New flag': 'Neuer Schalter',
  'No settings yet. Apps read settings with their feed. “New setting” creates one.':
    'Noch keine Einstellung. Apps lesen Einstellungen mit ihrem Feed: „Neue Einstellung“ erstellt eine.',
  'No flags yet. A flag turns a part of an app on or off. “New flag” creates one.':
    'Noch kein Schalter. Ein Schalter schaltet einen Teil einer App ein oder aus: „Neuer Schalter“ erstellt einen.',
  'New viewer key': 'Neuer Zuschauerschlüssel',
  'No viewer keys yet: apps send user ids without a signature. “New viewer key” creates one.':
    'Noch kein Zuschauerschlüssel: Apps senden Nutzer-IDs ohne Signatur. „Neuer Zuschauerschlüssel“ erstellt einen.',
  'No bulk jobs yet. “New bulk job” changes all items that match a filter, after a dry run.':
    'Noch kein Massenauftrag. „Neuer Massenauftrag“ ändert alle Inhalte, auf die ein Filter passt, und probiert es zuerst.',
  'New bucket': 'Neuer Bucket',
  'No buckets yet. “New bucket” adds one.': 'Noch kein Bucket. „Neuer Bucket“ fügt Ihren hinzu.',
  'Files in the bucket are kept. The credentials are deleted.':
    'Dateien im Bucket bleiben. Der Zugang zu ihm wird vergessen.',
  'Stop pushing': 'Nicht mehr senden',
  'New schedule': 'Neuer Zeitplan',
  'No schedules yet. “New schedule” exports each day.':
    'Noch kein Zeitplan. „Neuer Zeitplan“ exportiert jeden Tag.',
  'Stop this schedule?': 'Diesen Zeitplan beenden?',
  'Its existing exports are kept. No further days are exported.':
    'Seine bisherigen Exporte bleiben. Weitere Tage werden nicht exportiert.',
  'Stop the schedule': 'Zeitplan beenden',
  'Rules change the order that results from the weights.':
    'Regeln ändern die Reihenfolge, die sich aus den Gewichten ergibt.',
  'New rule': 'Neue Regel',
  'No rules yet: only the weights order the feed. “New rule” creates one.':
    'Noch keine Regel: Allein die Gewichte ordnen den Feed. „Neue Regel“ erstellt eine.',
  'Events that have not been sent yet are dropped. A new forwarding begins at its own start.':
    'Ereignisse, die noch nicht gesendet sind, werden nicht mehr gesendet. Eine neue Weiterleitung beginnt an ihrem eigenen Anfang.',
  'A comparison needs a number.': 'Ein Vergleich braucht eine Zahl.',
  'A field has the same operator twice.': 'Ein Feld hat denselben Operator zweimal.',
  'As JSON': 'Als JSON',
  'As fields': 'Als Felder',
  'Each condition needs a field and a value.': 'Jede Bedingung braucht ein Feld und einen Wert.',
  'The JSON does not have the form of conditions.': 'Das JSON hat nicht die Form von Bedingungen.',
  'The conditions are not valid JSON.': 'Die Bedingungen sind kein JSON.',
  'begins with': 'beginnt mit',
  '{label} as JSON': '{label} als JSON',
  all: 'alle',
  search: 'suchen',
  key: 'Schlüssel',
  to: 'auf',
  Compression: 'Komprimierung',
  Behind: 'Rückstand',
  'an id': 'eine ID',
  Yours: 'Ihre',
  Stored: 'Gespeichert',
  'Saved.': 'Gespeichert.',
  'Saved. Someone else has changed {names} in the meantime; these changes are kept.':
    'Gespeichert. Jemand anders hat inzwischen {names} geändert; das bleibt.',
  'Boost: rank higher': 'Verstärken: weiter vorn',
  'Suppress: rank lower': 'Dämpfen: weiter hinten',
  'Pin to a position': 'An eine Stelle heften',
  'Exclude from feeds': 'Aus Feeds ausschließen',
  'Videos to upload': 'Videos zum Hochladen',
};
