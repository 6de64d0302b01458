import{a as e,ct as t,dt as n,f as r,ft as i,i as a,mt as o,n as s,pt as c,t as l,u}from"./states-GLU0Hgh4.js";import{c as d}from"./icons-BNnnQvKZ.js";import{t as f}from"./Badge-CgF_Uguy.js";import{t as p}from"./NativeSelect-CSCcGCKh.js";import{t as m}from"./Table-DSMDAtRe.js";import{t as h}from"./TagsInput-DlXgRPZc.js";import{K as g,R as _,m as v,t as y}from"./Text-DWgHCbuT.js";import{i as b,r as x}from"./questions-BKUH1klF.js";import{i as S,n as C,r as w}from"./data-Gk0HNMT6.js";import{r as ee}from"./drawer-BNsnA_It.js";import{n as T}from"./form-text-BT5E5lgw.js";import{o as E}from"./format-DDdDgo7I.js";import{r as D,t as O}from"./page-D4aZszff.js";import{t as k}from"./SimpleGrid-CGrEeWUY.js";import{t as A}from"./Textarea-CixRsTkZ.js";import{t as j}from"./SegmentedControl-BTBZi2XR.js";var M=g(_(),1),N=v(),P={TypeScript:`import { createServer } from 'node:http';
import { verifyWebhook } from '@reelfeed/client/server';

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const { event, data } = verifyWebhook(
      Buffer.concat(chunks), request.headers, process.env.WEBHOOK_SECRET);
    console.log(event, data);
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
}).listen(3000);
`,Python:`import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

KEY = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))

def is_genuine(headers, body):
    moment = headers.get("webhook-timestamp", "")
    if not moment.isdigit() or abs(time.time() - int(moment)) > 300:
        return False
    signed = f"{headers.get('webhook-id', '')}.{moment}.".encode() + body
    digest = hmac.new(KEY, signed, hashlib.sha256).digest()
    expected = "v1," + base64.b64encode(digest).decode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(expected, one) for one in given)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        genuine = is_genuine(self.headers, body)
        if genuine:
            message = json.loads(body)
            print(message["event"], message["data"], flush=True)
        self.send_response(204 if genuine else 401)
        self.end_headers()

HTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
`,Go:`package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func isGenuine(key []byte, header http.Header, body []byte) bool {
	moment := header.Get("webhook-timestamp")
	sent, err := strconv.ParseInt(moment, 10, 64)
	if err != nil || math.Abs(float64(time.Now().Unix()-sent)) > 300 {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), moment, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(expected), []byte(given)) {
			return true
		}
	}
	return false
}

func main() {
	secret := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil {
		panic(err)
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !isGenuine(key, r.Header, body) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Println(string(body))
		w.WriteHeader(http.StatusNoContent)
	})
	panic(http.ListenAndServe(":3000", nil))
}
`,PHP:`<?php
$key = base64_decode(preg_replace('/^whsec_/', '', getenv('WEBHOOK_SECRET')));
$body = file_get_contents('php://input');
$id = $_SERVER['HTTP_WEBHOOK_ID'] ?? '';
$moment = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '0';

$digest = hash_hmac('sha256', "$id.$moment.$body", $key, true);
$expected = 'v1,' . base64_encode($digest);
$genuine = false;
foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
    $genuine = $genuine || hash_equals($expected, $given);
}
if (!$genuine || abs(time() - (int) $moment) > 300) {
    http_response_code(401);
    exit;
}
$message = json_decode($body, true);
error_log($message['event']);
http_response_code(204);
`},F=Object.keys(P);function I(){let[e,t]=(0,M.useState)(`TypeScript`),r=P[e];return(0,N.jsxs)(`details`,{children:[(0,N.jsx)(`summary`,{children:(0,N.jsx)(y,{size:`sm`,component:`span`,children:u(`A receiver to copy`)})}),(0,N.jsxs)(o,{justify:`space-between`,py:`xs`,children:[(0,N.jsx)(j,{size:`xs`,"aria-label":u(`Language`),data:F,value:e,onChange:t}),(0,N.jsx)(O,{text:r,label:u(`Copy the receiver`)})]}),(0,N.jsx)(n,{block:!0,tabIndex:0,children:r})]})}var L=3600,R=[{value:String(L),label:u(`1 hour`)},{value:String(24*L),label:u(`1 day`)},{value:String(168*L),label:u(`7 days`)}],z={value:``,label:u(`in any order`)},B={value:`contentId`,label:u(`one after the other for each item`)},V=[{value:`hmac`,label:u(`with the secret`)},{value:`ed25519`,label:u(`also with a public key`)}];function H({webhook:e}){let n=String(e?.rotationOverlap??L),r=R.some(({value:e})=>e===n),i={value:n,label:`${n} seconds`};return(0,N.jsxs)(t,{gap:`xs`,children:[(0,N.jsx)(A,{name:`filter`,label:u(`Filter`),description:u(`Conditions on the data, as JSON; empty: every event of its kinds.`),placeholder:`{ "title": { "prefix": "News: " }, "duration": { "gte": 60 } }`,autosize:!0,defaultValue:e?.filter?JSON.stringify(e.filter,null,2):``}),e!==void 0&&e.neverMatches.length>0&&(0,N.jsx)(y,{size:`sm`,children:u(`Never pass the filter: {value}`,{value:e.neverMatches.join(`, `)})}),(0,N.jsxs)(k,{cols:{base:1,sm:3},children:[(0,N.jsx)(b,{name:`retrySchedule`,label:u(`Attempts after seconds`),placeholder:u(`as the service has it, or 0, 60, 300`),defaultValue:e?.retrySchedule?.join(`, `)??``}),(0,N.jsx)(b,{name:`timeout`,label:u(`Time-out in seconds`),type:`number`,min:1,max:30,defaultValue:e?.timeout??30}),(0,N.jsx)(p,{name:`rotationOverlap`,label:u(`A replaced secret counts for`),data:r?R:[...R,i],defaultValue:n}),(0,N.jsx)(p,{name:`orderedBy`,label:u(`Deliveries are sent`),data:[z,B],defaultValue:e?.orderedBy??``}),(0,N.jsx)(p,{name:`signature`,label:u(`Signature`),data:V,defaultValue:e?.signature??`hmac`}),(0,N.jsx)(p,{name:`payloadVersion`,label:u(`Payload version`),data:[`1`,`2`],defaultValue:String(e?.payloadVersion??1)}),(0,N.jsx)(b,{name:`customer`,label:u(`Customer`),defaultValue:e?.customer??``}),(0,N.jsx)(b,{name:`notify`,label:u(`Mail addresses for notices`),placeholder:`ops@example.com, …`,defaultValue:e?.notify.join(`, `)??``})]})]})}function U(e){let t=t=>T(e,t),n=e=>t(e).split(/[\s,]+/).filter(e=>e!==``),r=n(`retrySchedule`).map(Number);if(r.some(e=>!Number.isInteger(e)))throw Error(`Attempts after seconds: whole numbers with commas, such as 0, 60, 300.`);return{filter:W(t(`filter`)),retrySchedule:r.length===0?null:r,timeout:t(`timeout`)===``?null:Number(t(`timeout`)),payloadVersion:t(`payloadVersion`)===`2`?2:1,rotationOverlap:Number(t(`rotationOverlap`)),orderedBy:t(`orderedBy`)===``?null:`contentId`,signature:t(`signature`)===`ed25519`?`ed25519`:`hmac`,customer:t(`customer`)||null,notify:n(`notify`)}}function W(e){if(e===``)return null;try{return JSON.parse(e)}catch(e){let t=e instanceof Error?e.message:``;throw Error(`The filter is no JSON: ${t}`,{cause:e})}}var G={https:{label:u(`an HTTPS endpoint`),url:`https://example.com/hooks`,fields:[]},nats:{label:`NATS JetStream`,url:`tls://nats.example.com:4222`,fields:[{name:`subject`,label:u(`Subject`),isRequired:!0,placeholder:`reelfeed.{event}`},{name:`username`,label:u(`User name`)},{name:`password`,label:u(`Password`),isSecret:!0},{name:`token`,label:u(`Token`),isSecret:!0}]},rabbitmq:{label:`RabbitMQ`,url:`amqps://rabbit.example.com/vhost`,fields:[{name:`exchange`,label:u(`Exchange`)},{name:`routingKey`,label:u(`Routing key`),isRequired:!0,placeholder:`reelfeed.{event}`},{name:`username`,label:u(`User name`)},{name:`password`,label:u(`Password`),isSecret:!0}]},s3:{label:u(`S3 objects`),url:`https://s3.eu-west-1.amazonaws.com/`,fields:[{name:`bucket`,label:u(`Bucket`),isRequired:!0},{name:`region`,label:u(`Region`),isRequired:!0},{name:`prefix`,label:u(`Prefix`),placeholder:`events/`},{name:`accessKeyId`,label:u(`Access key id`),isRequired:!0},{name:`secretAccessKey`,label:u(`Secret access key`),isRequired:!0,isSecret:!0}]}};function K({type:e}){let{fields:t}=G[e];return t.length===0?null:(0,N.jsx)(k,{cols:{base:1,sm:3},children:t.map(({name:t,label:n,isRequired:r=!1,isSecret:i=!1,placeholder:a})=>(0,N.jsx)(b,{name:`destination.${t}`,label:n,required:r,...i&&{type:`password`,autoComplete:`new-password`},...a!==void 0&&{placeholder:a}},`${e} ${t}`))})}function q(e,t){let n=G[t].fields.map(({name:t})=>[t,T(e,`destination.${t}`)]).filter(([,e])=>e!==``);return{type:t,...Object.fromEntries(n)}}function J(){let a=S(`/v1/webhook-events`,{}),o=C(e=>r.post(`/v1/webhook-events/trigger`,{body:{event:e}})),l=e=>({title:u(`Make up “{event}”?`,{event:e}),text:u(`Every webhook that has subscribed to it receives it, with sample data.`),action:u(`Make it up`)});return(0,N.jsxs)(`details`,{children:[(0,N.jsx)(`summary`,{children:(0,N.jsx)(y,{size:`sm`,component:`span`,children:u(`Kinds of events, with samples`)})}),(0,N.jsx)(s,{error:o.error}),o.data!==void 0&&(0,N.jsx)(c,{role:`status`,children:u(`“{event}” goes to {deliveries} webhooks.`,{event:o.data.data.event,deliveries:o.data.data.deliveries})}),(0,N.jsx)(e,{of:a,children:({data:e})=>(0,N.jsx)(t,{gap:`xs`,pt:`xs`,children:e.map(({event:e,description:r,example:a})=>(0,N.jsxs)(`details`,{children:[(0,N.jsx)(`summary`,{children:(0,N.jsxs)(y,{size:`sm`,component:`span`,children:[(0,N.jsx)(`b`,{children:e}),` `,r]})}),(0,N.jsxs)(t,{gap:`xs`,children:[(0,N.jsx)(n,{block:!0,tabIndex:0,children:JSON.stringify(a,null,2)}),(0,N.jsx)(i,{size:`compact-sm`,variant:`default`,w:`fit-content`,"aria-label":u(`Make up {event}`,{event:e}),loading:o.isPending,onClick:()=>x(l(e),()=>o.mutate(e)),children:u(`Make one up…`)})]})]},e))})})]})}var Y=36e5;function X(){let r=(0,M.useMemo)(()=>new Date(Date.now()-Y).toISOString(),[]),i=S(`/v1/webhook-events/recent`,{query:{since:r,limit:50}},{every:1e4});return(0,N.jsxs)(`details`,{children:[(0,N.jsx)(`summary`,{children:(0,N.jsx)(y,{size:`sm`,component:`span`,children:u(`Events of the last hour`)})}),(0,N.jsx)(e,{of:i,children:({data:e})=>e.length===0?(0,N.jsx)(y,{size:`sm`,children:u(`None yet.`)}):(0,N.jsx)(t,{gap:4,pt:`xs`,children:e.toReversed().map(({id:e,event:t,timestamp:r,data:i})=>(0,N.jsxs)(`details`,{children:[(0,N.jsx)(`summary`,{children:(0,N.jsx)(y,{size:`sm`,component:`span`,children:`${t} · ${E(r)}`})}),(0,N.jsx)(n,{block:!0,tabIndex:0,children:JSON.stringify(i,null,2)})]},e))})})]})}function Z(){let t=w(`/v1/webhooks`,{});return(0,N.jsxs)(D,{title:u(`Webhooks`),about:u(`Events of the service, sent to your systems as they happen.`),curl:{path:`/v1/webhooks`},actions:(0,N.jsx)(ee,{label:u(`New webhook`),children:()=>(0,N.jsx)(Q,{})}),children:[(0,N.jsx)(e,{of:t,children:e=>e.length===0?(0,N.jsx)(l,{command:`npx reelfeed webhooks listen --forward http://localhost:3000/hook`,children:u(`No webhook yet. “New webhook” makes one; this shows events on your own machine:`)}):(0,N.jsx)(ne,{webhooks:e})}),(0,N.jsx)(a,{of:t}),(0,N.jsx)(J,{}),(0,N.jsx)(X,{})]})}function Q(){let[e,n]=(0,M.useState)([`content.ready`]),[a,o]=(0,M.useState)(`https`),[c,l]=(0,M.useState)(null),d=S(`/v1/webhook-events`,{}).data?.data.map(({event:e})=>e)??[],f=C(e=>r.post(`/v1/webhooks`,{body:e})),m=t=>{t.preventDefault();let n=e=>T(t.currentTarget,e);l(null);try{f.mutate({url:n(`url`),events:e,description:n(`description`)||null,...U(t.currentTarget),...a!==`https`&&{destination:q(t.currentTarget,a)}})}catch(e){l(e)}},g=f.data?.data;return(0,N.jsxs)(t,{children:[(0,N.jsx)(`form`,{onSubmit:m,children:(0,N.jsxs)(t,{children:[(0,N.jsx)(b,{name:`url`,label:u(`URL`),placeholder:G[a].url,required:!0}),(0,N.jsx)(h,{label:u(`Events`),data:[`*`,`content.*`,...d],value:e,onChange:n}),(0,N.jsx)(b,{name:`description`,label:u(`Description`)}),(0,N.jsx)(p,{label:u(`Goes to`),value:a,onChange:({currentTarget:e})=>o(e.value),data:Object.entries(G).map(([e,{label:t}])=>({value:e,label:t}))}),(0,N.jsx)(K,{type:a}),(0,N.jsxs)(`details`,{children:[(0,N.jsx)(`summary`,{children:(0,N.jsx)(y,{size:`sm`,component:`span`,children:u(`Filter, schedule, signature and more`)})}),(0,N.jsx)(H,{})]}),(0,N.jsx)(s,{error:c??f.error}),(0,N.jsx)(i,{type:`submit`,w:`fit-content`,loading:f.isPending,children:u(`Create webhook`)})]})}),g!==void 0&&(0,N.jsx)(te,{secret:g.secret})]})}function te({secret:e}){return(0,N.jsx)(c,{title:u(`The secret is shown this once: keep it`),role:`status`,children:(0,N.jsxs)(t,{gap:`xs`,children:[(0,N.jsxs)(o,{children:[(0,N.jsx)(n,{style:{overflowWrap:`anywhere`},children:e}),(0,N.jsx)(O,{text:e,label:u(`Copy`)})]}),(0,N.jsx)(I,{})]})})}function ne({webhooks:e}){return(0,N.jsx)(m.ScrollContainer,{minWidth:480,children:(0,N.jsxs)(m,{children:[(0,N.jsx)(m.Thead,{children:(0,N.jsxs)(m.Tr,{children:[(0,N.jsx)(m.Th,{children:u(`URL`)}),(0,N.jsx)(m.Th,{children:u(`Events`)}),(0,N.jsx)(m.Th,{children:u(`Health`)}),(0,N.jsx)(m.Th,{children:u(`Description`)})]})}),(0,N.jsx)(m.Tbody,{children:e.map(e=>(0,N.jsxs)(m.Tr,{children:[(0,N.jsx)(m.Td,{children:(0,N.jsx)(d,{href:`#/webhooks/${e.id}`,underline:`always`,children:e.url})}),(0,N.jsx)(m.Td,{children:e.events.join(`, `)}),(0,N.jsx)(m.Td,{children:(0,N.jsx)($,{webhook:e})}),(0,N.jsx)(m.Td,{children:e.description})]},e.id))})]})})}function $({webhook:e}){let{status:t,disabledReason:n,failingSince:r}=e,i=r!==null||n===`failing`,a=t===`disabled`?n===`failing`?`disabled: it failed too long`:`disabled`:r===null?`healthy`:`failing since ${E(r)}`;return(0,N.jsx)(f,{variant:`outline`,color:i?`red`:`gray`,tt:`none`,children:a})}export{U as a,G as i,Z as n,I as o,H as r,$ as t};