import{a as e,f as t,ft as n,ht as r,i,lt as a,mt as o,n as s,pt as c,t as l,u}from"./states-BzgyESbT.js";import{c as d}from"./icons-B7x7ywZv.js";import{t as f}from"./Badge-CgF_Uguy.js";import{t as p}from"./NativeSelect-BSc0FDXQ.js";import{t as m}from"./Table-2_NhvYdf.js";import{t as h}from"./TagsInput-CxZ6i56Y.js";import{K as g,R as _,m as v,t as y}from"./Text-DWgHCbuT.js";import{i as b,r as ee}from"./questions-1ZTsN9CG.js";import{i as x,n as S,r as C}from"./data-BTjvL123.js";import{r as w}from"./drawer-Bfr4DXcP.js";import{n as T,t as E}from"./conditions-DOOxy231.js";import{n as D}from"./form-text-BT5E5lgw.js";import{o as O}from"./format-D2Hz8kxQ.js";import{r as te,t as k}from"./page-BjWjC-Jf.js";import{t as A}from"./Checkbox-DvxFihuq.js";import{t as j}from"./SimpleGrid-CGrEeWUY.js";import{t as M}from"./condition-rules-CpnvkI0H.js";import{t as N}from"./SegmentedControl-DJAyQ9Dm.js";var P=g(_(),1),F=v(),I={TypeScript:`import { createServer } from 'node:http';
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
`},L=Object.keys(I);function R(){let[e,t]=(0,P.useState)(`TypeScript`),i=I[e];return(0,F.jsxs)(`details`,{children:[(0,F.jsx)(`summary`,{children:(0,F.jsx)(y,{size:`sm`,component:`span`,children:u(`Example receiver`)})}),(0,F.jsxs)(r,{justify:`space-between`,py:`xs`,children:[(0,F.jsx)(N,{size:`xs`,"aria-label":u(`Language`),data:L,value:e,onChange:t}),(0,F.jsx)(k,{text:i,label:u(`Copy the receiver`)})]}),(0,F.jsx)(n,{block:!0,tabIndex:0,children:i})]})}var z=3600,B=[{value:String(z),label:u(`1 hour`)},{value:String(24*z),label:u(`1 day`)},{value:String(168*z),label:u(`7 days`)}],V={value:``,label:u(`in any order`)},H={value:`contentId`,label:u(`one after the other for each item`)},U=[{value:`hmac`,label:u(`with the secret`)},{value:`ed25519`,label:u(`also with a public key`)}];function W(e,t=``){return Array.isArray(e)?W(e[0],t):typeof e!=`object`||!e?t===``?[]:[t]:Object.entries(e).flatMap(([e,n])=>W(n,t===``?e:`${t}.${e}`))}function G({webhook:e,change:t}){let n=x(`/v1/webhook-events`,{}).data?.data??[],r=[...new Set(n.flatMap(({example:e})=>W(e.data)))].toSorted();return(0,F.jsxs)(F.Fragment,{children:[(0,F.jsx)(E,{label:u(`Filter`),description:u(`Conditions on the data of its events; all must hold. Quotes turn a number into text: "7".`),grammar:M,initial:e?.filter??null,fields:r,change:t}),e!==void 0&&e.neverMatches.length>0&&(0,F.jsx)(y,{size:`sm`,children:u(`Never pass the filter: {value}`,{value:e.neverMatches.join(`, `)})})]})}function K({webhook:e,changeFilter:t}){let n=String(e?.rotationOverlap??z),r=B.some(({value:e})=>e===n),i={value:n,label:`${n} seconds`};return(0,F.jsxs)(a,{gap:`xs`,children:[(0,F.jsx)(G,{webhook:e,change:t}),(0,F.jsxs)(j,{cols:{base:1,sm:3},children:[(0,F.jsx)(b,{name:`retrySchedule`,label:u(`Attempts after seconds`),placeholder:u(`default of the service, or 0, 60, 300`),defaultValue:e?.retrySchedule?.join(`, `)??``}),(0,F.jsx)(b,{name:`timeout`,label:u(`Time-out in seconds`),type:`number`,min:1,max:30,defaultValue:e?.timeout??30}),(0,F.jsx)(p,{name:`rotationOverlap`,label:u(`A replaced secret is valid for`),data:r?B:[...B,i],defaultValue:n}),(0,F.jsx)(p,{name:`orderedBy`,label:u(`Deliveries are sent`),data:[V,H],defaultValue:e?.orderedBy??``}),(0,F.jsx)(p,{name:`signature`,label:u(`Signature`),data:U,defaultValue:e?.signature??`hmac`}),(0,F.jsx)(p,{name:`payloadVersion`,label:u(`Payload version`),data:[`1`,`2`],defaultValue:String(e?.payloadVersion??1)}),(0,F.jsx)(b,{name:`customer`,label:u(`Customer`),defaultValue:e?.customer??``}),(0,F.jsx)(b,{name:`notify`,label:u(`Email addresses for notices`),placeholder:`ops@example.com, …`,defaultValue:e?.notify.join(`, `)??``})]})]})}function q(e){let t=t=>D(e,t),n=e=>t(e).split(/[\s,]+/).filter(e=>e!==``),r=n(`retrySchedule`).map(Number);if(r.some(e=>!Number.isInteger(e)))throw Error(`Attempts after seconds: enter whole numbers separated by commas, such as 0, 60, 300.`);return{retrySchedule:r.length===0?null:r,timeout:t(`timeout`)===``?null:Number(t(`timeout`)),payloadVersion:t(`payloadVersion`)===`2`?2:1,rotationOverlap:Number(t(`rotationOverlap`)),orderedBy:t(`orderedBy`)===``?null:`contentId`,signature:t(`signature`)===`ed25519`?`ed25519`:`hmac`,customer:t(`customer`)||null,notify:n(`notify`)}}var J={https:{label:u(`an HTTPS endpoint`),url:`https://example.com/hooks`,fields:[]},nats:{label:`NATS JetStream`,url:`tls://nats.example.com:4222`,fields:[{name:`subject`,label:u(`Subject`),isRequired:!0,placeholder:`reelfeed.{event}`},{name:`username`,label:u(`User name`)},{name:`password`,label:u(`Password`),isSecret:!0},{name:`token`,label:u(`Token`),isSecret:!0}]},rabbitmq:{label:`RabbitMQ`,url:`amqps://rabbit.example.com/vhost`,fields:[{name:`exchange`,label:u(`Exchange`)},{name:`routingKey`,label:u(`Routing key`),isRequired:!0,placeholder:`reelfeed.{event}`},{name:`username`,label:u(`User name`)},{name:`password`,label:u(`Password`),isSecret:!0}]},s3:{label:u(`S3 objects`),url:`https://s3.eu-west-1.amazonaws.com/`,fields:[{name:`bucket`,label:u(`Bucket`),isRequired:!0},{name:`region`,label:u(`Region`),isRequired:!0},{name:`prefix`,label:u(`Prefix`),placeholder:`events/`},{name:`accessKeyId`,label:u(`Access key id`),isRequired:!0},{name:`secretAccessKey`,label:u(`Secret access key`),isRequired:!0,isSecret:!0}]}};function Y({type:e}){let{fields:t}=J[e];return t.length===0?null:(0,F.jsx)(j,{cols:{base:1,sm:3},children:t.map(({name:t,label:n,isRequired:r=!1,isSecret:i=!1,placeholder:a})=>(0,F.jsx)(b,{name:`destination.${t}`,label:n,required:r,...i&&{type:`password`,autoComplete:`new-password`},...a!==void 0&&{placeholder:a}},`${e} ${t}`))})}function X(e,t){let n=J[t].fields.map(({name:t})=>[t,D(e,`destination.${t}`)]).filter(([,e])=>e!==``);return{type:t,...Object.fromEntries(n)}}function Z(){let r=x(`/v1/webhook-events`,{}),i=S(e=>t.post(`/v1/webhook-events/trigger`,{body:{event:e}})),l=e=>({title:u(`Make up “{event}”?`,{event:e}),text:u(`Every webhook that has subscribed to it receives it, with sample data.`),action:u(`Send the sample`)});return(0,F.jsxs)(`details`,{children:[(0,F.jsx)(`summary`,{children:(0,F.jsx)(y,{size:`sm`,component:`span`,children:u(`Kinds of events, with samples`)})}),(0,F.jsx)(s,{error:i.error}),i.data!==void 0&&(0,F.jsx)(o,{role:`status`,children:u(`“{event}” goes to {deliveries} webhooks.`,{event:i.data.data.event,deliveries:i.data.data.deliveries})}),(0,F.jsx)(e,{of:r,children:({data:e})=>(0,F.jsx)(a,{gap:`xs`,pt:`xs`,children:e.map(({event:e,description:t,example:r})=>(0,F.jsxs)(`details`,{children:[(0,F.jsx)(`summary`,{children:(0,F.jsxs)(y,{size:`sm`,component:`span`,children:[(0,F.jsx)(`b`,{children:e}),` `,t]})}),(0,F.jsxs)(a,{gap:`xs`,children:[(0,F.jsx)(n,{block:!0,tabIndex:0,children:JSON.stringify(r,null,2)}),(0,F.jsx)(c,{size:`compact-sm`,variant:`default`,w:`fit-content`,"aria-label":u(`Make up {event}`,{event:e}),loading:i.isPending,onClick:()=>ee(l(e),()=>i.mutate(e)),children:u(`Send a sample…`)})]})]},e))})})]})}var ne=36e5;function re(){let[t,r]=(0,P.useState)(!1),i=(0,P.useMemo)(()=>new Date(Date.now()-ne).toISOString(),[]),o=x(`/v1/webhook-events/recent`,{query:{since:i,limit:100}},{every:1e4});return(0,F.jsxs)(`details`,{children:[(0,F.jsx)(`summary`,{children:(0,F.jsx)(y,{size:`sm`,component:`span`,children:u(`Events of the last hour`)})}),(0,F.jsx)(A,{size:`xs`,pt:`xs`,label:u(`Include changes of the audit log`),checked:t,onChange:e=>r(e.currentTarget.checked)}),(0,F.jsx)(e,{of:o,children:({data:e})=>{let r=e.filter(({event:e})=>t||e!==`audit.recorded`);return r.length===0?(0,F.jsx)(y,{size:`sm`,children:u(`None yet.`)}):(0,F.jsx)(a,{gap:4,pt:`xs`,children:r.toReversed().map(({id:e,event:t,timestamp:r,data:i})=>(0,F.jsxs)(`details`,{children:[(0,F.jsx)(`summary`,{children:(0,F.jsx)(y,{size:`sm`,component:`span`,children:`${t} · ${O(r)}`})}),(0,F.jsx)(n,{block:!0,tabIndex:0,children:JSON.stringify(i,null,2)})]},e))})}})]})}function Q(){let t=C(`/v1/webhooks`,{});return(0,F.jsxs)(te,{title:u(`Webhooks`),about:u(`Events of the service, sent to your systems as they happen.`),curl:{path:`/v1/webhooks`},actions:(0,F.jsx)(w,{label:u(`New webhook`),children:()=>(0,F.jsx)(ie,{})}),children:[(0,F.jsx)(e,{of:t,children:e=>e.length===0?(0,F.jsx)(l,{command:`npx reelfeed webhooks listen --forward http://localhost:3000/hook`,children:u(`No webhooks yet. “New webhook” creates one; this shows events on your own machine:`)}):(0,F.jsx)(oe,{webhooks:e})}),(0,F.jsx)(i,{of:t}),(0,F.jsx)(Z,{}),(0,F.jsx)(re,{})]})}function ie(){let[e,n]=(0,P.useState)([`content.ready`]),[r,i]=(0,P.useState)(`https`),[o,l]=(0,P.useState)(null),[d,f]=(0,P.useState)({value:null}),m=x(`/v1/webhook-events`,{}).data?.data.map(({event:e})=>e)??[],g=S(e=>t.post(`/v1/webhooks`,{body:e})),_=t=>{t.preventDefault();let n=e=>D(t.currentTarget,e);l(null);try{if(`problem`in d)throw Error(T(d.problem));g.mutate({url:n(`url`),events:e,description:n(`description`)||null,...q(t.currentTarget),filter:d.value,...r!==`https`&&{destination:X(t.currentTarget,r)}})}catch(e){l(e)}},v=g.data?.data;return(0,F.jsxs)(a,{children:[(0,F.jsx)(`form`,{onSubmit:_,children:(0,F.jsxs)(a,{children:[(0,F.jsx)(b,{name:`url`,label:u(`URL`),placeholder:J[r].url,required:!0}),(0,F.jsx)(h,{label:u(`Events`),data:[`*`,`content.*`,...m],value:e,onChange:n}),(0,F.jsx)(b,{name:`description`,label:u(`Description`)}),(0,F.jsx)(p,{label:u(`Goes to`),value:r,onChange:({currentTarget:e})=>i(e.value),data:Object.entries(J).map(([e,{label:t}])=>({value:e,label:t}))}),(0,F.jsx)(Y,{type:r}),(0,F.jsxs)(`details`,{children:[(0,F.jsx)(`summary`,{children:(0,F.jsx)(y,{size:`sm`,component:`span`,children:u(`Filter, schedule, signature and more`)})}),(0,F.jsx)(K,{changeFilter:f})]}),(0,F.jsx)(s,{error:o??g.error}),(0,F.jsx)(c,{type:`submit`,w:`fit-content`,loading:g.isPending,children:u(`Create webhook`)})]})}),v!==void 0&&(0,F.jsx)(ae,{secret:v.secret})]})}function ae({secret:e}){return(0,F.jsx)(o,{title:u(`The secret is shown only once: store it safely`),role:`status`,children:(0,F.jsxs)(a,{gap:`xs`,children:[(0,F.jsxs)(r,{children:[(0,F.jsx)(n,{style:{overflowWrap:`anywhere`},children:e}),(0,F.jsx)(k,{text:e,label:u(`Copy`)})]}),(0,F.jsx)(R,{})]})})}function oe({webhooks:e}){return(0,F.jsx)(m.ScrollContainer,{minWidth:480,children:(0,F.jsxs)(m,{children:[(0,F.jsx)(m.Thead,{children:(0,F.jsxs)(m.Tr,{children:[(0,F.jsx)(m.Th,{children:u(`URL`)}),(0,F.jsx)(m.Th,{children:u(`Events`)}),(0,F.jsx)(m.Th,{children:u(`Health`)}),(0,F.jsx)(m.Th,{children:u(`Description`)})]})}),(0,F.jsx)(m.Tbody,{children:e.map(e=>(0,F.jsxs)(m.Tr,{children:[(0,F.jsx)(m.Td,{children:(0,F.jsx)(d,{href:`#/webhooks/${e.id}`,underline:`always`,children:e.url})}),(0,F.jsx)(m.Td,{children:e.events.join(`, `)}),(0,F.jsx)(m.Td,{children:(0,F.jsx)($,{webhook:e})}),(0,F.jsx)(m.Td,{children:e.description})]},e.id))})]})})}function $({webhook:e}){let{status:t,disabledReason:n,failingSince:r}=e,i=r!==null||n===`failing`,a=t===`disabled`?n===`failing`?`disabled: it failed for too long`:`disabled`:r===null?`healthy`:`failing since ${O(r)}`;return(0,F.jsx)(f,{variant:`outline`,color:i?`red`:`gray`,tt:`none`,children:a})}export{q as a,J as i,Q as n,R as o,K as r,$ as t};